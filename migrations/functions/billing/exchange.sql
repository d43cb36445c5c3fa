-- What instances of version 0.2.0 call: exchange_timed() without the fields that it added.
create or replace function exchange(p_instance uuid, p_batch bigint, p_reports account_report[], p_charges charge[],
  p_now timestamptz default null)
returns table (id uuid, granted boolean, request_level bigint, token_level bigint, requests_per_minute per_minute,
               tokens_per_minute per_minute)
language sql
set search_path from current
as $$
  select * from exchange_timed(p_instance, p_batch, p_reports,
    array(select row(c.*, null, null, null, null, null, null)::timed_charge from unnest(p_charges) c), p_now => p_now)
$$;
