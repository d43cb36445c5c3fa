-- Whether an open dispute of the client names the invoice, by its number. Only with `tollgate.proof` does the owner, who queues mails, see
-- records.
create or replace function is_disputed(p_invoice invoice) returns boolean language plpgsql set search_path from current as $$
declare
  v_proof constant text := coalesce(current_setting('tollgate.proof', true), '');
  v_is_disputed boolean;
begin
  perform set_config('tollgate.proof', 'on', true);
  v_is_disputed := exists (select from dispute d where d.client_id = p_invoice.client_id and d.status = 'open'
    and d.archived_at is null and names_invoice(d.invoice, p_invoice.number));
  perform set_config('tollgate.proof', v_proof, true);
  return v_is_disputed;
end $$;
