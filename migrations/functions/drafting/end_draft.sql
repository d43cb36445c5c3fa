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
