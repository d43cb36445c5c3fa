-- Queues an alert for each rule that reports the end of batches, in the transaction in which the batch ends: however it ends, once for each.
-- A rule that is being removed is waited for, and one that is removed afterwards drops the alert.
create or replace function alert_batch_end() returns trigger language plpgsql set search_path from current as $$
begin
  insert into alert (rule_id, period, used, of, batch)
  select r.id, 'batch ' || new.id, 0, 0, jsonb_build_object('id', new.id, 'dialect', new.dialect, 'status', new.status, 'lines', new.lines,
    'succeeded', new.succeeded, 'failed', new.failed)
  from batch_alert b join alert_rule r on r.id = b.rule_id
  where r.account_id = new.account_id and r.removed_at is null for share of r
  on conflict do nothing;
  return null;
end $$;
create or replace trigger alerted after update of ended_at on batch for each row
  when (old.ended_at is null and new.ended_at is not null) execute function alert_batch_end();
