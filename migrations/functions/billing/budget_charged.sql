-- The sum of the charges of a budget since p_since, which is the beginning of a quarter of an hour. Whole days (UTC) come from the daily
-- sums, the rest from those rows of the ledger that are in the sums. The account must be locked, or the sums are of a moment ago.
create or replace function budget_charged(p_budget budget, p_since timestamptz) returns numeric
language plpgsql stable
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
as $$
declare
  v_day constant date := (p_since at time zone 'UTC' + interval '1 day' - interval '1 microsecond')::date;
  v_day_begins constant timestamptz := v_day::timestamp at time zone 'UTC';
  v_days numeric;
  v_rest numeric := 0;
begin
  if p_budget.tag_name is null then
    select sum(u.cost) into v_days from usage_day u
      where u.account_id = p_budget.account_id and u.day >= v_day
        and u.key_id in (select key_id from budget_key where budget_id = p_budget.id);
  else
    select sum(t.cost) into v_days from tag_day t
      where t.account_id = p_budget.account_id and t.day >= v_day and t.tags ->> p_budget.tag_name = p_budget.tag_value;
  end if;
  if p_since < v_day_begins then
    select sum(l.cost) into v_rest from ledger l
      where l.account_id = p_budget.account_id and l.at >= p_since and l.at < v_day_begins
        and not exists (select from instance i where i.number = l.instance and l.number > i.folded)
        and case when p_budget.tag_name is null then exists (select from budget_key k where k.budget_id = p_budget.id and k.key_id = l.key_id)
          else l.tags ->> p_budget.tag_name = p_budget.tag_value end;
  end if;
  return coalesce(v_days, 0) + coalesce(v_rest, 0);
end $$;
