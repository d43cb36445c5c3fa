-- The alert rules that also report the end of each batch of their account: docs/decisions/0033-batches.md.
create table batch_alert (
  rule_id uuid primary key references alert_rule
);
-- In a new database, the file of record_all() creates this trigger.
create constraint trigger recorded after insert or delete or update of rule_id on batch_alert
  deferrable initially deferred for each row execute function record_change();

-- A rule may report nothing else.
alter table alert_rule drop constraint alert_rule_shares_check, add constraint alert_rule_shares_check check (cardinality(shares) <= 10);

-- The batch whose end it reports, as it was then: {id, dialect, status, lines, succeeded, failed}. Its caller can remove it before the alert is sent.
alter table alert add column batch jsonb;
