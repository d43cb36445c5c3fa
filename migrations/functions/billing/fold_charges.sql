-- Adds the charges that these instances have appended, or all instances if null, to the sums of their accounts, keys, budgets, days and tags, and
-- takes what they cost from the allowances. Locks the instances, and then their accounts and those in p_accounts, each in the order of
-- their ids. So it must come before any other lock on an account: nobody who has an account may wait for an instance.
create or replace function fold_charges(p_instances uuid[] default null, p_accounts uuid[] default '{}') returns void
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
as $$
declare
  v_instances uuid[];
  v_everywhere boolean;
  v_sums charge_sum[];
  v_budgets boolean;
begin
  -- They append nothing until this transaction ends.
  v_instances := array(select id from instance where appended_since is not null and (p_instances is null or id = any(p_instances))
    order by id for update);
  foreach v_everywhere in array array[false, true] loop
    exit when cardinality(v_instances) = 0;
    v_sums := array(
      select row((date_bin('15 minutes', l.at, 'epoch') at time zone 'UTC')::date, i.id, max(l.number), l.account_id, l.key_id, l.person_id,
        l.model, l.client_id, l.tags, count(*), sum(l.input_tokens), sum(l.output_tokens), sum(l.cached_tokens), sum(l.cache_write_tokens),
        sum(l.cost), date_bin('15 minutes', l.at, 'epoch'))::charge_sum
      from appended_charges(v_instances, v_everywhere) l join instance i on i.number = l.instance
      group by date_bin('15 minutes', l.at, 'epoch'), i.id, l.account_id, l.key_id, l.person_id, l.model, l.client_id, l.tags);
    exit when (select sum(appended) from instance where id = any(v_instances))
      = (select sum(s.requests) from unnest(v_sums) s);
  end loop;
  -- An array, not a subquery: with some plans of a subquery, the result leaves out rows that the statement waited for and locks.
  p_accounts := p_accounts || array(select s.account from unnest(v_sums) s);
  select bool_or(locked.has_budgets) into v_budgets
    from (select has_budgets from account where id = any(p_accounts) order by id for no key update) locked;
  if cardinality(v_instances) = 0 then return; end if;

  -- A sum that begins later than a charge does not count it, whatever the time now.
  update key_limit l set day_charged = day_charged + of_day, month_charged = month_charged + of_month
  from (
    select b.id, coalesce(sum(s.cost) filter (where s.day >= b.day), 0) as of_day,
      coalesce(sum(s.cost) filter (where s.day >= b.month), 0) as of_month
    from unnest(v_sums) s join api_key k on k.id = s.key join key_limit b on b.id = k.limit_id group by b.id) c
  where l.id = c.id;

  if v_budgets then
    perform charge_budgets(v_sums);
  end if;

  with spent as materialized (
    select s.instance, s.account, s.cost, s.of_month, of_credit, least(coalesce(a.held, 0), s.cost - of_credit) as of_held
    from (
      select s.instance, s.account, sum(s.cost) as cost, coalesce(sum(s.cost) filter (where s.day >= b.month), 0) as of_month
      from unnest(v_sums) s join account b on b.id = s.account group by s.instance, s.account) s
    left join allowance a on a.instance_id = s.instance and a.account_id = s.account,
    lateral (select least(coalesce(a.credit, 0), s.cost) as of_credit) c
  ), reduced as (
    update allowance a set credit = a.credit - of_credit, held = a.held - of_held
    from spent s where a.instance_id = s.instance and a.account_id = s.account
  )
  update account b set charged = b.charged + c.cost, month_charged = b.month_charged + c.of_month, held = b.held - c.of_held,
    credit_lent = b.credit_lent - c.of_credit
  from (
    select account, sum(cost) as cost, sum(of_month) as of_month, sum(of_held) as of_held, sum(of_credit) as of_credit
    from spent group by account) c
  where b.id = c.account;

  -- Not 0 if the ledger lacks a charge or has another one: `verify` tells.
  update instance i set appended = i.appended - s.requests, folded = s.number, appended_since = null
  from (select s.instance, sum(s.requests) as requests, max(s.number) as number from unnest(v_sums) s group by s.instance) s
  where i.id = s.instance;
  perform count_charges(v_sums);
end $$;
