-- Adds charges that fold_charges() has not counted yet to the budgets that they count in. Their accounts must be locked. A period that began
-- later than a charge does not count it, whatever the time now; one that ended before a charge is over. fold_charges() sets how it is planned.
create or replace function charge_budgets(p_sums charge_sum[]) returns void
language plpgsql
set search_path from current
as $$
begin
  with spent as materialized (
    select k.budget_id as id, s.quarter, s.cost from unnest(p_sums) s join budget_key k on k.key_id = s.key
    union all
    select b.id, s.quarter, s.cost from unnest(p_sums) s cross join lateral jsonb_each_text(s.tags) t
      join budget b on b.account_id = s.account and b.tag_name = t.key and b.tag_value = t.value
  )
  update budget b set began_at = c.began_at, ends_at = c.ends_at, charged = c.charged, last_charged_at = greatest(b.last_charged_at, c.latest)
  from (
    select e.id, latest.quarter as latest, now.began_at, now.ends_at,
      now.charged + (select coalesce(sum(s.cost), 0) from spent s where s.id = e.id and s.quarter >= now.began_at) as charged
    from (select id, max(quarter) as quarter from spent group by id) latest join budget e on e.id = latest.id
      cross join lateral current_budget(e, greatest(e.began_at, latest.quarter)) now
  ) c
  where b.id = c.id;
end $$;
