-- A draft is opened and ended by the person who asked for it. Both functions pass row-level security, and every portal
-- role may call them, so they have to look for themselves.

-- Locks a draft of the transaction's person that has not ended, and returns what the till knows of it. An interrupted
-- draft was given up by an instance that did not see it run; if it was charged after all, it can still end. No row: it
-- has ended.
create or replace function open_draft(p_draft uuid)
returns table (charged boolean, stop_reason text, reply text)
language plpgsql security definer set search_path from current as $$
begin
  perform from draft d where d.id = p_draft and d.created_by = portal_person()
    and (d.status = 'running' or d.failure = 'interrupted') for update;
  if not found then return; end if;
  return query
  select l.request_id is not null, l.stop_reason, i.body::jsonb ->> 'output_text'
  from (values (p_draft)) as v (id)
    left join ledger l on l.request_id = v.id
    left join idempotency i on i.account_id = l.account_id and i.key = v.id::text and i.hold_id = v.id;
end $$;

-- Ends a draft of the transaction's person, or any if Tollgate itself does. It is complete, or has a letter, only if it
-- was charged. Returns whether it ended now.
create or replace function end_draft(p_draft uuid, p_status text, p_letter uuid, p_failure text) returns boolean
language plpgsql security definer set search_path from current as $$
begin
  update draft d set status = p_status, letter_id = p_letter, failure = p_failure, finished_at = record_time()
  where d.id = p_draft and (d.status = 'running' or d.failure = 'interrupted')
    and (d.created_by = portal_person() or portal_actor() = 'service')
    and (p_status = 'failed' or p_status = 'stopped' and p_letter is null
      or exists (select from ledger l where l.request_id = p_draft));
  return found;
end $$;
