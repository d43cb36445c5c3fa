-- What till() returned for those of the settlements that an earlier call made whose answer was lost. Without a bound on the time, since
-- the clock may have moved.
create or replace function settled_before(p_settle jsonb)
returns table (id uuid, of_account uuid, request_level bigint, token_level bigint, requests_per_minute per_minute,
               tokens_per_minute per_minute, cost amount, charged_input integer, charged_output integer)
language sql
set enable_seqscan = off
set search_path from current
as $$
  select l.request_id, l.account_id, a.request_level, a.token_level, a.requests_per_minute, a.tokens_per_minute, l.cost,
    l.input_tokens + l.cached_tokens + l.cache_write_tokens, l.output_tokens
  from jsonb_array_elements(p_settle) s
  join ledger l on l.request_id = (s ->> 'hold')::uuid
  join account a on a.id = l.account_id
$$;
