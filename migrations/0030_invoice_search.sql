-- Invoices are found by a part of their number, in any case.
create index invoice_number_part on invoice using gin (number gin_trgm_ops);
