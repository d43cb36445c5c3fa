-- The key by which the activity of a client shows the numbers of its events encrypted, so that gaps do not reveal other activity.
create or replace function number_key() returns text language sql stable security definer set search_path from current as
  $$ select encode(key, 'hex') from number_key $$;
revoke execute on function number_key() from public;
