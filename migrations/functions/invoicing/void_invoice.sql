-- Outcomes: voided, and those of lock_invoice_draft().
create or replace function void_invoice(p_id uuid, p_version integer, p_request text, p_address text) returns text
language plpgsql set search_path from current as $$
declare
  v_outcome text := lock_invoice_draft(p_id, p_version);
begin
  if v_outcome is not null then return v_outcome; end if;
  update invoice set state = 'void', version = version + 1, updated_at = record_time(), updated_by = portal_person()
    where id = p_id;
  perform note_invoice('invoice_voided', p_id, p_request, p_address, null);
  return 'voided';
end $$;
