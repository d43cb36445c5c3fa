-- Renews allowances of keys whose accounts are locked: a report replaces the one before. As with accounts, an instance gets all it
-- wants or nothing: a hundred times as much must be left of every limit and budget, and nothing was recalled in the last two seconds.
-- What requests between two reports cost is counted both as charged and as lent: fold_charges() takes it only from accounts. A key without
-- limits any more has no row in the result.
create or replace function renew_key_allowances(p_instance uuid, p_reports key_report[], p_now timestamptz)
returns table (id uuid, granted boolean, request_level bigint, token_level bigint, requests_per_minute per_minute,
               tokens_per_minute per_minute)
language sql
set search_path from current
as $$
  with report as materialized (
    select e.*, had.held as had_held, had.credit as had_credit, had.requests as had_requests, had.tokens as had_tokens,
      today, this_month, day_now, month_now, l.requests_per_minute as rpm, l.tokens_per_minute as tpm,
      least(l.daily_budget - day_now, l.monthly_budget - month_now) - l.held - l.credit_lent as room,
      coalesce(l.recalled_at not between p_now - interval '2 seconds' and p_now, true) as may,
      -- Null without such a limit.
      case when l.requests_per_minute is not null then least(
        greatest(0, l.requests_per_minute - l.requests_lent + coalesce(had.requests, 0) - e.requests) * unit,
        refilled(l.request_level, l.level_at, p_now, l.requests_per_minute, l.requests_lent * unit)
          + least(e.requests_back, l.requests_per_minute) * unit) end as r_left,
      case when l.tokens_per_minute is not null then least(
        greatest(0, l.tokens_per_minute - l.tokens_lent + coalesce(had.tokens, 0) - e.tokens) * unit,
        refilled(l.token_level, l.level_at, p_now, l.tokens_per_minute, l.tokens_lent * unit)
          + least(e.tokens_back, l.tokens_per_minute) * unit) end as t_left
    from unnest(p_reports) e
    join key_limit l on l.id = e.id
    left join lateral (select a.* from key_allowance a
      where a.instance_id = p_instance and a.limit_id = e.id offset 0) had on true,
    lateral (select 60000000::bigint as unit, (p_now at time zone 'UTC')::date as today,
      date_trunc('month', p_now at time zone 'UTC')::date as this_month) p,
    lateral (select case when l.day = today then l.day_charged else key_charged_since(l.id, today) end as day_now,
      case when l.month = this_month then l.month_charged else key_charged_since(l.id, this_month) end as month_now) m
  ), decided as materialized (
    select r.*, granted, r.credit + case when granted then more_credit else 0 end as credit_now,
      r.requests + case when granted then more_requests else 0 end as requests_now,
      r.tokens + case when granted then more_tokens else 0 end as tokens_now
    from report r, lateral (select at_hand > 0 and may
      and coalesce(r_left >= 100 * at_hand * 60000000::bigint, true)
      and coalesce(t_left >= 100::numeric * at_hand * need * 60000000, true)
      and coalesce(room >= 100 * at_hand * cost, true) as granted offset 0) g
  ), written as (
    insert into key_allowance as a (instance_id, limit_id, held, credit, requests, tokens)
      select p_instance, d.id, d.held, credit_now, requests_now, tokens_now from decided d
    on conflict (instance_id, limit_id) do update
      set held = excluded.held, credit = excluded.credit, requests = excluded.requests, tokens = excluded.tokens
  )
  update key_limit l set day = today, day_charged = day_now, month = this_month, month_charged = month_now,
    held = l.held - coalesce(had_held, 0) + d.held,
    credit_lent = l.credit_lent - coalesce(had_credit, 0) + credit_now,
    requests_lent = l.requests_lent - coalesce(had_requests, 0) + requests_now,
    tokens_lent = l.tokens_lent - coalesce(had_tokens, 0) + tokens_now,
    request_level = case when rpm is null then 0 when d.granted then r_left - more_requests * 60000000::bigint else r_left end,
    token_level = case when tpm is null then 0 when d.granted then t_left - more_tokens * 60000000::bigint else t_left end,
    level_at = p_now
  from decided d where l.id = d.id
  returning l.id, d.granted, l.request_level, l.token_level, l.requests_per_minute, l.tokens_per_minute
$$;
