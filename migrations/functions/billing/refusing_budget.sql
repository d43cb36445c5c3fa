-- Which of these budgets refuses a request that can cost p_cost: the last to be renewed of those that cannot cover it, or else one that
-- requests in flight hold, with whether instances have a part of it that they would return. wait_us: the microseconds until it is renewed;
-- null if no wait helps, or if that is unknown.
create or replace function refusing_budget(p_budgets budget[], p_cost numeric, p_now timestamptz, out id uuid, out wait_us bigint, out lent boolean)
language sql stable
set search_path from current
as $$
  select b.id, case when is_spent and isfinite(renewed_at) then extract(epoch from renewed_at - p_now) * 1000000 end, not is_spent and b.credit_lent > 0
  from unnest(p_budgets) b,
    lateral (select p_cost > budget_limit(b, p_now) - b.charged as is_spent,
      -- An addition to the amount may have ended by then.
      case when p_cost <= budget_limit(b, b.ends_at) then b.ends_at else 'infinity' end as renewed_at) r
  where b.hard and p_cost > budget_limit(b, p_now) - b.charged - b.held - b.credit_lent
  order by is_spent desc, case when is_spent then renewed_at end desc, b.credit_lent > 0 desc limit 1
$$;
