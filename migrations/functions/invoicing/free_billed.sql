-- What an invoice billed, months, entries and letters, can be billed again.
create or replace function free_billed(p_invoice uuid) returns void
language sql security definer set search_path from current as $$
  delete from billed_month where invoice_id = p_invoice;
  delete from billed_entry where invoice_id = p_invoice;
  delete from billed_letters where invoice_id = p_invoice
$$;
revoke execute on function free_billed(uuid) from public;
