-- The sum of an account's charges since p_month.
create or replace function charged_since(p_account uuid, p_month date) returns numeric language sql stable
set search_path from current
as $$
  select coalesce(sum(cost), 0) from usage_day where account_id = p_account and day >= p_month
$$;
