-- Charges requests that were admitted from allowances, adds all that the instance has charged to the sums, and renews the allowances:
-- a report replaces the one before. There may be charges of accounts without a report. An instance gets all it wants or nothing: it
-- needs a hundred times as much to be left, and no recall in the last two seconds. What a report says was charged is not read: the
-- ledger tells. p_terms: as in write_charges().
create or replace function exchange_timed(p_instance uuid, p_batch bigint, p_reports account_report[], p_charges timed_charge[],
  p_key_reports key_report[] default '{}', p_now timestamptz default null, p_budget_reports key_report[] default '{}',
  p_terms jsonb default null)
returns table (id uuid, granted boolean, request_level bigint, token_level bigint, requests_per_minute per_minute,
               tokens_per_minute per_minute)
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
as $$
#variable_conflict use_column
declare
  c_unit constant bigint := 60000000;
  v_accounts uuid[];
  v_now timestamptz;
  v_month date;
begin
  perform append_charges(p_instance, p_batch, p_charges, p_now, p_terms);
  v_accounts := array(select e.account from unnest(p_reports) e);
  if cardinality(p_key_reports) > 0 then
    v_accounts := v_accounts || array(select account_id from key_limit where key_limit.id in (select k.id from unnest(p_key_reports) k));
  end if;
  if cardinality(p_budget_reports) > 0 then
    v_accounts := v_accounts || array(select account_id from budget where budget.id in (select k.id from unnest(p_budget_reports) k));
  end if;
  perform fold_charges(array[p_instance], v_accounts);
  v_now := coalesce(p_now, clock_timestamp());
  v_month := date_trunc('month', v_now at time zone 'UTC')::date;
  if cardinality(p_key_reports) > 0 then
    return query select * from renew_key_allowances(p_instance, p_key_reports, v_now);
  end if;
  if cardinality(p_budget_reports) > 0 then
    return query select * from renew_budget_allowances(p_instance, p_budget_reports, v_now);
  end if;

  return query
  with report as materialized (
    select e.account, e.held, e.credit, e.requests, e.tokens, e.at_hand, e.cost, e.need, e.more_credit,
      e.more_requests, e.more_tokens, had.held as had_held, had.credit as had_credit, had.requests as had_requests,
      had.tokens as had_tokens,
      m.charged_before,
      coalesce(b.monthly_limit - m.charged_before, b.credited - b.charged)
        - b.held - b.credit_lent as room,
      b.status = 'open' and coalesce(b.recalled_at not between v_now - interval '2 seconds' and v_now, true) as may,
      greatest(0, least(b.requests_per_minute * c_unit - b.requests_lent + coalesce(had.requests, 0)
        - e.requests * c_unit,
        refilled(b.request_level, b.level_at, v_now, b.requests_per_minute, b.requests_lent) + e.requests_back * c_unit)) as r_left,
      greatest(0, least(b.tokens_per_minute * c_unit - b.tokens_lent + coalesce(had.tokens, 0) - e.tokens * c_unit,
        refilled(b.token_level, b.level_at, v_now, b.tokens_per_minute, b.tokens_lent) + e.tokens_back * c_unit)) as t_left
    from unnest(p_reports) e
    join account b on b.id = e.account
    left join lateral (select a.* from allowance a
      where a.instance_id = p_instance and a.account_id = e.account offset 0) had on true,
    lateral (select case when b.month = v_month then b.month_charged else charged_since(b.id, v_month) end
      as charged_before) m
  ), decided as materialized (
    select account, held, charged_before, r_left, t_left, had_held, had_credit, had_requests, had_tokens,
      granted, more_requests, more_tokens,
      credit + case when granted then more_credit else 0 end as credit,
      case when granted then at_hand else requests end * c_unit as requests,
      case when granted then at_hand * need else tokens end * c_unit as tokens
    from report, lateral (select at_hand > 0 and may and r_left >= 100 * at_hand * c_unit
      and t_left >= 100::numeric * at_hand * need * c_unit and room >= 100 * at_hand * cost as granted offset 0) g
  ), written as (
    insert into allowance as a (instance_id, account_id, held, credit, requests, tokens)
      select p_instance, account, held, credit, requests, tokens from decided
      where (held, credit, requests, tokens) is distinct from (had_held, had_credit, had_requests, had_tokens)
    on conflict (instance_id, account_id) do update
      set held = excluded.held, credit = excluded.credit, requests = excluded.requests, tokens = excluded.tokens
  )
  update account b set held = b.held - coalesce(d.had_held, 0) + d.held,
    credit_lent = b.credit_lent - coalesce(d.had_credit, 0) + d.credit,
    month = v_month, month_charged = d.charged_before,
    requests_lent = b.requests_lent - coalesce(d.had_requests, 0) + d.requests,
    tokens_lent = b.tokens_lent - coalesce(d.had_tokens, 0) + d.tokens,
    request_level = d.r_left - case when d.granted then d.more_requests * c_unit else 0 end,
    token_level = d.t_left - case when d.granted then d.more_tokens * c_unit else 0 end,
    level_at = v_now
  from decided d where b.id = d.account
  returning b.id, d.granted, b.request_level, b.token_level, b.requests_per_minute, b.tokens_per_minute;
end $$;
-- That of version 1.0.0.
drop function if exists exchange_timed(uuid, bigint, account_report[], timed_charge[], key_report[], timestamptz);
