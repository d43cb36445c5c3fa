-- Budgets that several keys share, or all requests with a tag: docs/decisions/0031-shared-budgets.md.

-- What the requests of some keys, or those with a tag, may cost in each period. Every function that writes a row, or decides by it, has
-- locked the row's account before it reads the row.
create table budget (
  id           uuid primary key,
  account_id   uuid not null references account,
  name         label not null,
  -- The tag of its requests. Null: it is of the keys in budget_key.
  tag_name     text check (length(tag_name) between 1 and 64),
  tag_value    text check (length(tag_value) <= 128),
  period       text not null check (period in ('day', 'week', 'month', 'total')),
  -- Where its periods begin at midnight.
  time_zone    text not null,
  -- Whether it refuses requests. Otherwise it is only counted.
  hard         boolean not null,
  amount       amount not null,
  -- What is added to the amount until a time.
  raised_by    amount,
  raised_until timestamptz,
  created_at   timestamptz not null default now(),
  -- The current period, and the sum of the charges since it began.
  began_at     timestamptz not null,
  ends_at      timestamptz not null,
  charged      amount not null,
  -- The sum of the holds of its requests, and of what instances hold for theirs.
  held         amount not null,
  -- What instances have of it besides.
  credit_lent  amount not null default 0,
  recalled_at  timestamptz,
  constraint budget_is_valid check (
    least(amount, raised_by, charged, held, credit_lent) >= 0
    and (tag_name is null) = (tag_value is null) and (raised_by is null) = (raised_until is null))
) with (fillfactor = 50);
create unique index budget_name on budget (account_id, lower(normalize(name, nfkc)));
create index on budget (account_id, tag_name, tag_value);

-- The keys that share a budget. Each belongs to its account. A key that replaces another one joins the budgets of that one.
create table budget_key (
  budget_id uuid not null references budget on delete cascade,
  key_id    uuid not null references api_key,
  primary key (budget_id, key_id)
);
create index on budget_key (key_id);

-- What an instance has of a budget, as in key_allowance. When the budget is removed, so is this.
create table budget_allowance (
  instance_id uuid not null,
  budget_id   uuid not null references budget on delete cascade,
  held        amount not null check (held >= 0),
  credit      amount not null check (credit >= 0),
  primary key (instance_id, budget_id)
) with (fillfactor = 50);
create index on budget_allowance (budget_id);

-- The tags of a hold, of an account with budgets of tags. A table of its own, so that the rows of others stay as they are.
create table tagged_hold (
  hold_id    uuid primary key,
  account_id uuid not null,
  tags       jsonb not null
) with (fillfactor = 50);
create index on tagged_hold (account_id);

-- In a new database, the file of record_all() creates these triggers.
create constraint trigger recorded after insert or delete or update of account_id, amount, hard, id, name, period, raised_by, raised_until,
    tag_name, tag_value, time_zone on budget
  deferrable initially deferred for each row execute function record_change();
create constraint trigger recorded after insert or delete or update of budget_id, key_id on budget_key
  deferrable initially deferred for each row execute function record_change();

-- The quarter of an hour of the charges: wherever a day begins, it begins with one.
alter type charge_sum add attribute quarter timestamptz;

-- The policies for developers are in the file of granted_accounts().
alter table budget enable row level security;
alter table budget_key enable row level security;
do $$
begin
  execute replace($roles$
    grant select (id, account_id, name, tag_name, period, time_zone, hard, amount, raised_by, raised_until, created_at, began_at, ends_at,
      charged, held) on budget to {developer};
    grant select on budget_key to {developer};
  $roles$, '{developer}', portal_role('developer'));
end $$;

-- Last, so that a migration that waits for others does not keep the till waiting.
alter table account
  -- Whether it has budgets. Locking the account also reads this afresh, so the till need not look for those of other accounts.
  add column has_budgets boolean not null default false;
