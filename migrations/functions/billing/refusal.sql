-- Why a request cannot be admitted; null if it can. This is the order in which limits, credit and budgets refuse. `p_tokens` and the levels are in
-- 60 millionths of a token or request, and so is `p_token_most`, all that the account may use in a minute. Null, without such a limit of
-- the key or budget, refuses nothing. What is held, or lent to instances, comes back: such a refusal may end without a charge.
create or replace function refusal(p_requests bigint, p_tokens bigint, p_cost numeric,
  p_token_most bigint, p_credit numeric, p_held numeric, p_request_level bigint, p_token_level bigint,
  p_key_token_most bigint, p_key_month_left numeric, p_key_day_left numeric, p_key_held numeric,
  p_key_request_level bigint, p_key_token_level bigint, p_budget_left numeric default null, p_budget_free numeric default null)
returns text language sql immutable
return case
  when p_tokens > p_token_most then 'never_fits'
  when p_tokens > p_key_token_most then 'key_never_fits'
  -- A request that costs nothing needs no credit, even where the credit is below zero.
  when p_cost > greatest(0, p_credit) then 'insufficient_credit'
  when p_cost > 0 and p_cost > p_key_month_left then 'key_month'
  when p_cost > 0 and p_cost > p_key_day_left then 'key_day'
  when p_cost > 0 and p_cost > p_budget_left then 'budget'
  when p_cost > greatest(0, p_credit - p_held) then 'credit_held'
  when p_cost > 0 and p_cost > least(p_key_month_left, p_key_day_left) - p_key_held then 'key_held'
  when p_cost > 0 and p_cost > p_budget_free then 'budget_held'
  when p_request_level < p_requests then 'requests'
  when p_token_level < p_tokens then 'tokens'
  when p_key_request_level < p_requests then 'key_requests'
  when p_key_token_level < p_tokens then 'key_tokens'
end;
-- That of version 1.0.0.
drop function if exists refusal(bigint, bigint, numeric, bigint, numeric, numeric, bigint, bigint, bigint, numeric, numeric, numeric, bigint,
  bigint);
