-- Accounts, keys, prices and the ledger. Money is an integer in 10⁻¹² of the currency unit, never a float.

create domain amount as numeric(38, 0);
create domain label as text check (length(value) between 1 and 200);
create domain per_minute as integer check (value > 0);
create type account_status as enum ('open', 'closed');
create type usage_source as enum ('model', 'upstream', 'estimated');

create table account (
  id                  uuid primary key,
  name                label not null,
  status              account_status not null default 'open',
  requests_per_minute per_minute not null,
  tokens_per_minute   per_minute not null,
  -- Null: prepaid, the credit left is credited - charged - held. Else: monthly_limit - month_charged - held.
  monthly_limit       amount,
  credited            amount not null default 0,
  charged             amount not null default 0,
  held                amount not null default 0,
  -- month_charged is the sum of the charges since the first of this month (UTC).
  month               date not null default date_trunc('month', now() at time zone 'UTC')::date,
  month_charged       amount not null default 0,
  -- The levels of the buckets at level_at, in 1/60 000 000 of a request or token: every µs a bucket refills by its limit.
  request_level       bigint not null,
  token_level         bigint not null,
  level_at            timestamptz not null default now(),
  -- The sums of the allowances. The buckets refill only to their size less what is lent.
  credit_lent         amount not null default 0,
  requests_lent       bigint not null default 0,
  tokens_lent         bigint not null default 0,
  -- When a request last lacked what instances have as allowances: for two seconds nothing is lent.
  recalled_at         timestamptz,
  created_at          timestamptz not null default now(),
  closed_at           timestamptz,
  -- One constraint, for speed: PostgreSQL prepares each constraint again for every statement that writes to the table.
  constraint never_negative check (
    least(monthly_limit, charged, held, month_charged, credit_lent, requests_lent, tokens_lent) >= 0
    and (monthly_limit is not null or credited - charged - held - credit_lent >= 0))
) with (fillfactor = 50);
-- Commands find an account by its name.
create unique index account_name on account (lower(normalize(name, nfkc)));

create table credit_entry (
  id         uuid primary key,
  account_id uuid not null references account,
  at         timestamptz not null default now(),
  amount     amount not null check (amount <> 0),
  note       text not null default ''
);
create index on credit_entry (account_id, at);

create table api_key (
  id             uuid primary key,
  public_id      text not null unique,
  secret_hash    bytea not null check (length(secret_hash) = 32),
  account_id     uuid references account,
  name           label not null,
  -- Null: every model.
  allowed_models text[],
  created_at     timestamptz not null default now(),
  expires_at     timestamptz,
  revoked_at     timestamptz,
  -- The key that rotation made; this key is then valid until expires_at.
  replaced_by    uuid references api_key,
  -- To the minute.
  last_used_at   timestamptz
);
create index on api_key (account_id);

-- Millionths of the currency unit per million tokens, which is 10⁻¹² units per token. A new price is a new row. Only a
-- scheduled price waits for the clock to reach valid_from, so that a clock set back leaves the other prices in force.
create table price (
  model      text not null,
  valid_from timestamptz not null,
  scheduled  boolean not null default false,
  input      bigint not null check (input >= 0),
  output     bigint not null,
  source     text not null check (source in ('configuration', 'command')),
  primary key (model, valid_from),
  constraint output_costs_more check (output > input)
);

create table instance (
  id         uuid primary key,
  host       text not null,
  started_at timestamptz not null default clock_timestamp(),
  seen_at    timestamptz not null default clock_timestamp(),
  -- The number of the last batch applied. An older batch that arrives late is refused.
  last_batch bigint not null default 0
) with (fillfactor = 50);

-- The most that a request in flight can cost, held until the request is settled or its instance is reaped. Either a key
-- or a person spends. hold, ledger and usage_day have no foreign keys, for speed: `tollgate verify` checks them instead.
create table hold (
  id                uuid primary key,
  account_id        uuid not null,
  key_id            uuid,
  person_id         uuid,
  instance_id       uuid not null,
  model             text not null,
  client_id         uuid,
  input_tokens      integer not null,
  max_output_tokens integer not null,
  input_price       bigint not null,
  output_price      bigint not null,
  cost              amount not null,
  idempotency_key   text,
  created_at        timestamptz not null,
  constraint hold_is_valid check (input_tokens >= 0 and max_output_tokens >= 0 and cost >= 0
    and (key_id is null) <> (person_id is null))
);

create table ledger (
  at            timestamptz not null,
  request_id    uuid not null,
  account_id    uuid not null,
  key_id        uuid,
  person_id     uuid,
  model         text not null,
  client_id     uuid,
  input_tokens  integer not null,
  output_tokens integer not null,
  input_price   bigint not null,
  output_price  bigint not null,
  cost          amount not null,
  stop_reason   text not null,
  usage_source  usage_source not null,
  -- Tokens the model reported beyond the hold that neither the credit nor the limits covered. They cost nothing.
  uncharged_input  integer not null default 0,
  uncharged_output integer not null default 0,
  primary key (request_id, at),
  constraint ledger_is_valid check (input_tokens >= 0 and output_tokens >= 0
    and uncharged_input >= 0 and uncharged_output >= 0 and (key_id is null) <> (person_id is null)
    and cost = input_tokens::numeric * input_price + output_tokens::numeric * output_price)
) partition by range (at);
create index on ledger (account_id, at);
create table ledger_default partition of ledger default;

create table usage_day (
  day           date not null,
  account_id    uuid not null,
  key_id        uuid,
  person_id     uuid,
  model         text not null,
  client_id     uuid,
  requests      bigint not null,
  input_tokens  bigint not null,
  output_tokens bigint not null,
  cost          amount not null,
  unique nulls not distinct (account_id, day, key_id, person_id, model, client_id)
) with (fillfactor = 50);

-- The reply to a request with an idempotency key, kept for 24 hours. body is null while that request runs.
create table idempotency (
  account_id   uuid not null,
  key          text not null check (length(key) between 1 and 255),
  request_hash text not null,
  hold_id      uuid not null,
  created_at   timestamptz not null,
  headers      jsonb,
  body         text,
  primary key (account_id, key)
);
create index on idempotency (created_at);

-- Creates the ledger's partitions for the months from p_from to p_to, both included.
create function ledger_partitions(p_from date, p_to date) returns void language plpgsql set search_path from current as $$
declare
  v_month date := date_trunc('month', p_from)::date;
  v_name text;
begin
  perform pg_advisory_xact_lock(hashtext('ledger_partitions'));
  while v_month <= p_to loop
    v_name := 'ledger_' || to_char(v_month, 'YYYY_MM');
    if to_regclass(v_name) is null then
      execute format('create table %I partition of ledger for values from (%L) to (%L)', v_name,
        v_month::timestamp at time zone 'UTC', (v_month + interval '1 month') at time zone 'UTC');
    end if;
    v_month := (v_month + interval '1 month')::date;
  end loop;
end $$;
select ledger_partitions((now() at time zone 'UTC')::date, ((now() at time zone 'UTC') + interval '3 months')::date);
