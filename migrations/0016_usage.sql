-- What a partner, or the developer behind a key, sees of the use of an account: how long requests took, and which were refused.

-- How long a request took until it was charged, in ms, as its instance measured it. Null for rows of version 0.2.0.
alter table ledger add column milliseconds integer;

-- Pages about the whole firm read spans of days.
create index usage_day_by_day on usage_day (day);

-- Requests with a key that were refused or failed, and so charged nothing. Counted exactly; model is null if the request
-- names none that is known.
create table refusal_day (
  day        date not null,
  account_id uuid not null,
  key_id     uuid not null,
  model      text,
  code       text not null,
  requests   bigint not null check (requests > 0),
  unique nulls not distinct (day, account_id, key_id, model, code)
) with (fillfactor = 50);
create index on refusal_day (account_id, day);

-- The last batch of counts that an instance added. A batch that is sent again after a lost connection counts once.
create table refusal_batch (
  source uuid primary key,
  number bigint not null,
  at     timestamptz not null default now()
);

-- Some of those requests, for the log: at most a few per second of each instance, for 30 days.
create table refused_request (
  request_id   uuid primary key,
  at           timestamptz not null,
  account_id   uuid not null,
  key_id       uuid not null,
  model        text,
  status       integer not null,
  code         text not null,
  milliseconds integer not null
);
create index on refused_request (at);
create index on refused_request (account_id, request_id);
