-- The charges of requests that an allowance admitted are appended to the ledger, and added to the sums a little later:
-- docs/decisions/0028-appended-charges.md.

-- The instance whose row counts the charge as appended. Null: its sums were written with it.
alter table ledger add column instance integer;

alter table instance
  add column number integer not null generated always as identity,
  -- The ledger's number of its last charge that is in the sums, and what it has appended since: how many charges, and their earliest time.
  add column folded bigint not null default coalesce(pg_sequence_last_value('ledger_number'), 0),
  add column appended integer not null default 0,
  add column appended_since timestamptz;

-- Charges of one day and payer for one model, to be added to the sums.
create type charge_sum as (day date, instance uuid, number bigint, account uuid, key uuid, person uuid, model text, client uuid, tags jsonb,
  requests bigint, input bigint, output bigint, cached bigint, cache_write bigint, cost numeric);
