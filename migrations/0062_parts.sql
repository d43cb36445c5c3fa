-- Invoices are found by parts of their number and of the payer's name, and exactly by their number.
create index invoice_spelling on invoice
  using gin ((spelling(coalesce(number, '') || ' ' || coalesce(buyer_name, ''))) gin_trgm_ops);
create index invoice_lower_number on invoice (lower(number));
drop index invoice_number_part, invoice_buyer_part;
