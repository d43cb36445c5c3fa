-- Identifies an actor that is not a person: the operating-system user of a command, or the id of an API key.
create or replace function portal_actor_name() returns text language sql stable parallel safe
  return case when portal_person() is null then nullif(current_setting('tollgate.actor_name', true), '') end;
