-- The sum of the charges of a budget since p_since, which is the beginning of a quarter of an hour, and before the day (UTC) p_before. Whole
-- days come from the daily sums, the rest from those rows of the ledger that are in the sums. The account must be locked, or the sums are of a
-- moment ago. p_keys: the keys that it is to have, of a budget that does not have them yet.
create or replace function budget_charged(p_budget budget, p_since timestamptz, p_before date default 'infinity', p_keys uuid[] default null)
returns numeric
language plpgsql stable
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
as $$
declare
  v_day constant date := (p_since at time zone 'UTC' + interval '1 day' - interval '1 microsecond')::date;
  v_day_begins constant timestamptz := least(v_day, p_before)::timestamp at time zone 'UTC';
  v_keys constant uuid[] := coalesce(p_keys, array(select key_id from budget_key where budget_id = p_budget.id));
  v_days numeric;
  v_rest numeric := 0;
begin
  if p_budget.tag_name is null then
    select sum(u.cost) into v_days from usage_day u
      where u.account_id = p_budget.account_id and u.day >= v_day and u.day < p_before and u.key_id = any (v_keys);
  else
    select sum(t.cost) into v_days from tag_day t
      where t.account_id = p_budget.account_id and t.day >= v_day and t.day < p_before
        and t.tags ->> p_budget.tag_name = p_budget.tag_value;
  end if;
  if p_since < v_day_begins then
    select sum(l.cost) into v_rest from ledger l
      where l.account_id = p_budget.account_id and l.at >= p_since and l.at < v_day_begins
        and not exists (select from instance i where i.number = l.instance and l.number > i.folded)
        and case when p_budget.tag_name is null then l.key_id = any (v_keys) else l.tags ->> p_budget.tag_name = p_budget.tag_value end;
  end if;
  return coalesce(v_days, 0) + coalesce(v_rest, 0);
end $$;
drop function if exists budget_charged(budget, timestamptz);
