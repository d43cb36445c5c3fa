-- The sum of the charges since p_day of the keys that share a row of key_limit.
create or replace function key_charged_since(p_limit uuid, p_day date) returns numeric language sql stable
set search_path from current
as $$
  select coalesce(sum(cost), 0) from usage_day
  where account_id = (select account_id from key_limit where id = p_limit) and day >= p_day
    and key_id in (select id from api_key where limit_id = p_limit)
$$;
