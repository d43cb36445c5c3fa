-- Ignores the time that a statement gives: never ahead of the clock, never before the previous change.
create or replace function stamp_change() returns trigger language plpgsql set search_path from current as $$
begin
  new.changed_at := greatest(old.changed_at, record_time());
  return new;
end $$;
