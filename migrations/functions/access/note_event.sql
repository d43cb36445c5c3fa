-- Of several events in one transaction the last one counts.
create or replace function note_event() returns trigger language plpgsql set search_path from current as $$
begin
  perform set_config('tollgate.event', new.id::text, true);
  return new;
end $$;
