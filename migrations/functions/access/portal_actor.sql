-- The kind of actor on whose behalf this transaction runs; null outside of the portal.
create or replace function portal_actor() returns text language sql stable parallel safe
  return case when portal_person() is null then nullif(current_setting('tollgate.actor', true), '') else 'person' end;
