-- A change of lines commits with an event of the audit log, as that of a revision does. One that does not is recorded, so that `verify`
-- finds it also when the invoice was issued since.
create constraint trigger announced after insert or delete or update on invoice_line deferrable initially deferred
  for each row execute function record_unannounced();
