-- Allowances of keys with limits of their own: an instance takes a part of the limits and budgets of a key in advance, as it does
-- of those of an account, and admits from memory what both cover.

alter table key_limit
  -- What instances have of it, in whole requests and tokens: of every kind, whether the key has such a limit or not, because it
  -- can get one. What their requests in flight can cost is in held.
  add column credit_lent   amount not null default 0 check (credit_lent >= 0),
  add column requests_lent bigint not null default 0 check (requests_lent >= 0),
  add column tokens_lent   bigint not null default 0 check (tokens_lent >= 0),
  add column recalled_at   timestamptz;

-- What an instance has of one row of key_limit. When the limits are removed, so is this: the instance then has nothing to return.
create table key_allowance (
  instance_id uuid not null,
  limit_id    uuid not null references key_limit on delete cascade,
  -- The most that its requests in flight can cost.
  held        amount not null check (held >= 0),
  credit      amount not null check (credit >= 0),
  requests    bigint not null check (requests >= 0),
  -- With those that its requests in flight may still return.
  tokens      bigint not null check (tokens >= 0),
  primary key (instance_id, limit_id)
) with (fillfactor = 50);
create index on key_allowance (limit_id);

-- What an instance has, and what it returns and wants. Of at_hand requests, each takes need tokens and costs at most cost.
create type key_report as (
  id uuid, requests_back integer, tokens_back bigint, held numeric, credit numeric, requests integer, tokens bigint,
  at_hand integer, cost numeric, need bigint, more_credit numeric, more_requests integer, more_tokens bigint);

-- Some databases have that of 0033_cached_tokens.sql, from before it was in `functions`.
drop function if exists exchange_timed(uuid, bigint, account_report[], timed_charge[], timestamptz);
