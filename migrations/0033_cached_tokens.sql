-- Tokens that a vendor's prompt cache saves are counted apart: input tokens are those that were neither read from the cache nor
-- written to it. Where a kind has no price of its own (null), it is charged as input.

alter table price
  add column cached_input bigint,
  add column cache_write bigint,
  add constraint cached_costs_no_more check (cached_input between 0 and input),
  add constraint cache_write_is_price check (cache_write >= 0);

alter table hold
  add column cached_price bigint,
  add column cache_write_price bigint;
-- till() of version 0.2.0 writes whole rows of it, and is called until that of this version is applied.
do $$
begin
  execute replace(pg_get_functiondef('till'::regproc), ')::hold', ', null, null)::hold');
end $$;

alter table usage_day
  add column cached_tokens bigint not null default 0,
  add column cache_write_tokens bigint not null default 0;

-- uncharged_input counts the three kinds of input together. The rows that are there meet the new constraint, because they met the
-- old one: 0034_validate_ledger.sql reads them without stopping the till.
alter table ledger
  add column cached_tokens integer not null default 0,
  add column cache_write_tokens integer not null default 0,
  add column cached_price bigint,
  add column cache_write_price bigint,
  drop constraint ledger_is_valid,
  add constraint ledger_is_valid check (input_tokens >= 0 and output_tokens >= 0 and cached_tokens >= 0
    and cache_write_tokens >= 0 and uncharged_input >= 0 and uncharged_output >= 0 and (key_id is null) <> (person_id is null)
    and cost = input_tokens::numeric * input_price + output_tokens::numeric * output_price
      + cached_tokens::numeric * coalesce(cached_price, input_price)
      + cache_write_tokens::numeric * coalesce(cache_write_price, input_price)) not valid;

-- A request that ended and is charged. The last four columns are null if the request has no such tokens and no such prices.
create type timed_charge as (
  id uuid, account uuid, key uuid, person uuid, model text, client uuid, input integer, output integer,
  input_price bigint, output_price bigint, cost numeric, stop text, source usage_source, uncharged_input integer,
  uncharged_output integer, milliseconds integer, cached integer, cache_write integer, cached_price bigint,
  cache_write_price bigint);

-- Some databases have that of 0016_usage.sql, from before it was in `functions`.
drop function if exists exchange_timed(uuid, bigint, account_report[], charge[], integer[], timestamptz);

-- Whoever may see the tokens of a client's charges may see all kinds.
do $$
begin
  execute format('grant select (cached_tokens, cache_write_tokens) on ledger, usage_day to %s, %s',
    portal_role('consultant'), portal_role('partner'));
end $$;
