-- Whether a client was erased, for triggers that run in any role.
create or replace function is_erased(p_client uuid) returns boolean language sql stable security definer set search_path from current as $$
  select exists (select from erased_client where client_id = p_client)
$$;
revoke execute on function is_erased(uuid) from public;
