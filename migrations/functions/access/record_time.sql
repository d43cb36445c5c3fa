-- The time of a record, in whole milliseconds.
create or replace function record_time() returns timestamptz language sql volatile
  return case when coalesce(current_setting('tollgate.time', true), '') = '' then clock_timestamp() else sample_time() end;
