-- Keys with limits and budgets of their own, and the tags of requests.

-- The limits and budgets of a key, besides those of its account. A key that replaces another one shares its row, so that
-- rotation gives no second budget. Every function that writes a row, or decides by it, has locked the row's account before
-- it reads the row.
create table key_limit (
  id                  uuid primary key,
  account_id          uuid not null references account,
  -- Null: only that of the account.
  requests_per_minute per_minute,
  tokens_per_minute   per_minute,
  daily_budget        amount,
  monthly_budget      amount,
  -- The sum of the holds of its keys.
  held                amount not null,
  -- The sums of the charges since the start of this day and since the first of this month (UTC).
  day                 date not null,
  day_charged         amount not null,
  month               date not null,
  month_charged       amount not null,
  -- As in account. 0 without a limit.
  request_level       bigint not null default 0,
  token_level         bigint not null default 0,
  level_at            timestamptz not null default clock_timestamp(),
  constraint key_limit_is_valid check (
    least(daily_budget, monthly_budget, held, day_charged, month_charged, request_level, token_level) >= 0
    and num_nonnulls(requests_per_minute, tokens_per_minute, daily_budget, monthly_budget) > 0)
) with (fillfactor = 50);
create index on key_limit (account_id);

alter table api_key add column limit_id uuid references key_limit;
create index on api_key (limit_id) where limit_id is not null;
-- Whether a key of the account has limits of its own. Locking the account also reads this afresh, so the till need not look
-- for the limits of other accounts' keys.
alter table account add column limits_keys boolean not null default false;

-- What the caller said a request was for: pairs of a name and a value. Null without any.
alter table ledger add column tags jsonb;

-- The daily sums of the requests with tags, by account and set of tags. Apart from usage_day, so that an account that uses many
-- different tags slows down only the reports of its tags. The digest is that of the text of the tags, which can be longer than
-- an index allows.
create table tag_day (
  day           date not null,
  account_id    uuid not null,
  digest        bytea not null,
  tags          jsonb not null,
  requests      bigint not null,
  input_tokens  bigint not null,
  output_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  cost          amount not null,
  primary key (account_id, day, digest)
) with (fillfactor = 50);
create index on tag_day (day);

alter type timed_charge add attribute tags jsonb;
