-- Requests that callers queue, to be made when live requests leave room for them: docs/decisions/0033-batches.md.

-- A file of lines that a caller has uploaded for a batch. What it is called and says is encrypted.
create table batch_file (
  id          uuid primary key,
  account_id  uuid not null references account,
  name        bytea not null,
  bytes       bigint not null default 0,
  lines       integer not null default 0,
  created_at  timestamptz(3) not null default clock_timestamp(),
  -- Null while it arrives: nobody sees it.
  uploaded_at timestamptz(3),
  expires_at  timestamptz not null
);
create index on batch_file (account_id, created_at);
create index on batch_file (expires_at);

create table batch_file_line (
  file_id uuid not null references batch_file on delete cascade,
  -- Of the file: empty lines have no row.
  number  integer not null,
  content bytea not null,
  primary key (file_id, number)
);

create table batch (
  id            uuid primary key,
  account_id    uuid not null references account,
  -- The key that pays: it must be valid whenever a line is taken.
  key_id        uuid not null references api_key,
  dialect       text not null check (dialect in ('openai', 'anthropic')),
  endpoint      text not null,
  -- The file from which its lines were copied, which may be gone. Null: they came with the request.
  file_id       uuid,
  -- The caller's pairs of names and values. Encrypted.
  metadata      bytea,
  -- `arriving`: its lines are not complete, and nobody sees it.
  status        text not null default 'arriving'
    check (status in ('arriving', 'in_progress', 'cancelling', 'completed', 'failed', 'cancelled', 'expired')),
  -- Why it failed: [{code, line, field, reason}], without any text of a customer.
  errors        jsonb,
  lines         integer not null default 0,
  succeeded     integer not null default 0,
  failed        integer not null default 0,
  bytes         bigint not null default 0,
  created_at    timestamptz(3) not null default clock_timestamp(),
  -- What has not begun then is not run.
  expires_at    timestamptz not null,
  cancelling_at timestamptz(3),
  ended_at      timestamptz(3),
  -- How long its results are kept after its end.
  kept          interval not null,
  -- Until when they are kept. Null: they are gone, or it has not ended.
  results_until timestamptz,
  -- The ids under which the results are files. Null: there are none.
  output_id     uuid,
  error_id      uuid,
  -- When an instance last took lines of it, and from when on it may take more.
  taken_at      timestamptz not null default clock_timestamp(),
  next_at       timestamptz not null default clock_timestamp(),
  -- What it waits for until then.
  waits_for     text check (waits_for in ('limits', 'credit', 'model')),
  constraint batch_is_valid check (least(succeeded, failed, lines - succeeded - failed) >= 0)
);
create index on batch (account_id, created_at);
create index on batch (taken_at) where status in ('in_progress', 'cancelling');
create index on batch (output_id) where output_id is not null;
create index on batch (error_id) where error_id is not null;

create table batch_line (
  batch_id   uuid not null references batch on delete cascade,
  number     integer not null,
  -- As in its file. Encrypted; null once there is a result.
  content    bytea,
  state      text not null default 'queued' check (state in ('queued', 'running', 'succeeded', 'failed')),
  tries      smallint not null default 0,
  -- The request of its last try, unless that is known not to be charged.
  request_id uuid,
  -- When its instance last said that it is running.
  claimed_at timestamptz,
  -- As it is downloaded. Encrypted.
  result     bytea,
  primary key (batch_id, number)
);
create index on batch_line (batch_id, number) where state in ('queued', 'running');
create index on batch_line (claimed_at) where state = 'running';

-- What live requests have left of the limits of an account, or of the keys with limits of their own, for requests in the background: see take_spare().
-- In 60 millionths; negative after a request of more tokens than are ever left.
create table spare (
  id       uuid primary key,
  at       timestamptz not null,
  requests bigint not null,
  tokens   bigint not null
) with (fillfactor = 50);
