-- Renews allowances of budgets whose accounts are locked, as renew_key_allowances() does those of keys. A budget that was removed has no
-- row in the result, and there are no levels.
create or replace function renew_budget_allowances(p_instance uuid, p_reports key_report[], p_now timestamptz)
returns table (id uuid, granted boolean, request_level bigint, token_level bigint, requests_per_minute per_minute,
               tokens_per_minute per_minute)
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
as $$
#variable_conflict use_column
begin
  return query
  with report as materialized (
    select e.id, e.held, e.credit, e.more_credit, had.held as had_held, had.credit as had_credit, now.began_at, now.ends_at, now.charged,
      e.at_hand > 0 and coalesce(b.recalled_at not between p_now - interval '2 seconds' and p_now, true)
        and (not b.hard or budget_limit(b, p_now) - now.charged - b.held - b.credit_lent >= 100 * e.at_hand * e.cost) as granted
    from unnest(p_reports) e join budget b on b.id = e.id cross join lateral current_budget(b, p_now) now
    left join lateral (select a.* from budget_allowance a
      where a.instance_id = p_instance and a.budget_id = e.id offset 0) had on true
  ), decided as materialized (
    select r.*, r.credit + case when granted then more_credit else 0 end as credit_now from report r
  ), written as (
    insert into budget_allowance as a (instance_id, budget_id, held, credit) select p_instance, d.id, d.held, d.credit_now from decided d
    on conflict (instance_id, budget_id) do update set held = excluded.held, credit = excluded.credit
  )
  update budget b set began_at = d.began_at, ends_at = d.ends_at, charged = d.charged,
    held = b.held - coalesce(d.had_held, 0) + d.held, credit_lent = b.credit_lent - coalesce(d.had_credit, 0) + d.credit_now
  from decided d where b.id = d.id
  returning b.id, d.granted, 0::bigint, 0::bigint, null::per_minute, null::per_minute;
end $$;
