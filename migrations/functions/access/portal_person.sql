-- The person on whose behalf this transaction runs; null for every other actor, and outside of the portal.
create or replace function portal_person() returns uuid language sql stable parallel safe
  return nullif(current_setting('tollgate.person', true), '')::uuid;
