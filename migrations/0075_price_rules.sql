-- What a price says besides its four prices per token, and what it meant for a charge: docs/decisions/0032-prices-with-rules.md.

-- As in the configuration, in its texts: prices by prompt length, service tier and region, of longer cache writes, per image and per use
-- of a tool. Null: the four prices alone.
alter table price add column rules jsonb;

-- How the rules of the price applied, and what was charged by them besides the four kinds of tokens. Null: the price had none.
-- The rows that are there meet the new constraint, because they met the old one: 0076_validate_terms.sql reads them without stopping the till.
alter table ledger
  add column terms jsonb,
  drop constraint ledger_is_valid,
  add constraint ledger_is_valid check (input_tokens >= 0 and output_tokens >= 0 and cached_tokens >= 0
    and cache_write_tokens >= 0 and uncharged_input >= 0 and uncharged_output >= 0 and (key_id is null) <> (person_id is null)
    and cost = input_tokens::numeric * input_price + output_tokens::numeric * output_price
      + cached_tokens::numeric * coalesce(cached_price, input_price)
      + cache_write_tokens::numeric * coalesce(cache_write_price, input_price)
      + case when terms is null then 0 else (terms ->> 'cost')::numeric end) not valid;

-- An invoice has lines for what such prices charge. A thousand images or uses has six decimals.
alter table invoice_line
  drop constraint invoice_line_unit_check,
  add constraint invoice_line_unit_check
    check (unit in ('hour', 'day', 'month', 'piece', 'kilometre', 'million_tokens', 'minute', 'lump_sum', 'thousand_uses')),
  drop constraint invoice_line_direction_check,
  add constraint invoice_line_direction_check
    check (direction in ('input', 'output', 'cached_input', 'cache_write', 'cache_write_1h', 'image', 'web_search'));
