-- Not before when the last charge was added to a budget: a period that begins later has none, so that its sum need not be read.
-- It may be now for those that are there.
alter table budget add column last_charged_at timestamptz default now();
alter table budget alter column last_charged_at drop default;

-- Terms without a cost would pass with any: a check that is null holds. 0085_validate_cost.sql reads the rows that are there.
alter table ledger
  drop constraint ledger_is_valid,
  add constraint ledger_is_valid check (input_tokens >= 0 and output_tokens >= 0 and cached_tokens >= 0
    and cache_write_tokens >= 0 and uncharged_input >= 0 and uncharged_output >= 0 and (key_id is null) <> (person_id is null)
    and cost = input_tokens::numeric * input_price + output_tokens::numeric * output_price
      + cached_tokens::numeric * coalesce(cached_price, input_price)
      + cache_write_tokens::numeric * coalesce(cache_write_price, input_price)
      + coalesce((terms ->> 'cost')::numeric, 0)) not valid;
