-- Keeps the document of an invoice as it is issued. A credit note over all of an invoice frees what it billed.
create or replace function keep_issued_invoice() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  insert into invoice_issue (invoice_id, document) values (new.id, invoice_document(new));
  perform free_billed(i.id) from invoice i where i.id = new.credits_id and i.gross = invoice_credited(i.id);
  return null;
end $$;
