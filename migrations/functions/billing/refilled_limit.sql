-- The limits of keys at p_now: their buckets are refilled, and a day or month that has ended since they were written begins anew.
create or replace function refilled_limit(p_limit key_limit, p_now timestamptz) returns key_limit
language plpgsql
set search_path from current
as $$
declare
  v_day constant date := (p_now at time zone 'UTC')::date;
  v_month constant date := date_trunc('month', v_day)::date;
begin
  p_limit.request_level := refilled(p_limit.request_level, p_limit.level_at, p_now, p_limit.requests_per_minute,
    p_limit.requests_lent * 60000000);
  p_limit.token_level := refilled(p_limit.token_level, p_limit.level_at, p_now, p_limit.tokens_per_minute,
    p_limit.tokens_lent * 60000000);
  p_limit.level_at := p_now;
  if p_limit.day <> v_day then
    p_limit.day := v_day;
    p_limit.day_charged := key_charged_since(p_limit.id, v_day);
  end if;
  if p_limit.month <> v_month then
    p_limit.month := v_month;
    p_limit.month_charged := key_charged_since(p_limit.id, v_month);
  end if;
  return p_limit;
end $$;
