-- Locks a draft of the transaction's person that has not ended, and returns what the till knows of it. An interrupted
-- draft was given up by an instance that did not see it run; if it was charged after all, it can still end. No row: it
-- has ended. A model may write a NUL, which JSON can carry and a text of PostgreSQL cannot: in a letter it becomes U+FFFD.
create or replace function open_draft(p_draft uuid)
returns table (charged boolean, stop_reason text, reply text)
language plpgsql security definer set search_path from current as $$
begin
  perform from draft d where d.id = p_draft and d.created_by = portal_person()
    and (d.status = 'running' or d.failure = 'interrupted') for update;
  if not found then return; end if;
  return query
  select l.request_id is not null, l.stop_reason,
    -- An even number of backslashes before it: they are escaped themselves.
    regexp_replace(i.body, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g')::jsonb ->> 'output_text'
  from (values (p_draft)) as v (id)
    left join ledger l on l.request_id = v.id
    left join idempotency i on i.account_id = l.account_id and i.key = v.id::text and i.hold_id = v.id;
end $$;
