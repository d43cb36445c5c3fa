-- Invoices are found by a part of the payer's name, in any case. A draft that states no buyer is found by its payer's record.
create index invoice_buyer_part on invoice using gin (buyer_name gin_trgm_ops);
create index invoice_without_buyer on invoice (id) where buyer_name is null;
