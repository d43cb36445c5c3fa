-- What issued credit notes take off an invoice.
create or replace function invoice_credited(p_invoice uuid) returns amount language sql stable
  return (select coalesce(sum(gross), 0) from invoice where credits_id = p_invoice and state = 'issued');
