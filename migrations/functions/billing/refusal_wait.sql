-- After how many microseconds a refused request would be admitted if nothing else is: when all buckets have what they lack, or when the
-- budget is renewed. Null if no wait helps, or if that is unknown. `p_key_most` is the smaller budget of the key.
create or replace function refusal_wait(p_refusal text, p_now timestamptz, p_requests bigint, p_tokens bigint, p_cost numeric,
  p_request_level bigint, p_token_level bigint, p_requests_per_minute integer, p_tokens_per_minute integer,
  p_key_request_level bigint, p_key_token_level bigint, p_key_requests_per_minute integer, p_key_tokens_per_minute integer,
  p_key_most numeric)
returns bigint language sql immutable
return case
  when p_refusal in ('requests', 'tokens', 'key_requests', 'key_tokens') then
    -- Null, without such a limit, is not the greatest.
    greatest(ceil((p_requests - p_request_level)::numeric / p_requests_per_minute),
      ceil((p_tokens - p_token_level)::numeric / p_tokens_per_minute),
      ceil((p_requests - p_key_request_level)::numeric / p_key_requests_per_minute),
      ceil((p_tokens - p_key_token_level)::numeric / p_key_tokens_per_minute))
  when p_refusal in ('key_month', 'key_day') and p_cost <= p_key_most then
    extract(epoch from (date_trunc(case p_refusal when 'key_day' then 'day' else 'month' end, p_now at time zone 'UTC')
      + case p_refusal when 'key_day' then interval '1 day' else interval '1 month' end) at time zone 'UTC' - p_now) * 1000000
end;
