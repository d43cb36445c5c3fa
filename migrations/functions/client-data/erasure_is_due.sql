-- Whether the erasure of a client is scheduled and its waiting period has ended.
create or replace function erasure_is_due(p_client uuid) returns boolean language sql stable set search_path from current as $$
  select exists (select from erasure where client_id = p_client and withdrawn_at is null and due_at <= clock_timestamp())
$$;
