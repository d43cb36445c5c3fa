-- What was paid for an invoice.
create or replace function invoice_paid(p_invoice uuid) returns amount language sql stable
  return (select coalesce(sum(amount), 0) from invoice_payment where invoice_id = p_invoice);
