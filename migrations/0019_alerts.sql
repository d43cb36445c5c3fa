-- Alerts when an account has used a share of its credit or of its monthly limit.

-- `charged` when credit was last added or withdrawn: the share used of a balance counts from there.
alter table account add column charged_at_credit amount not null default 0;

create function note_charged_at_credit() returns trigger language plpgsql set search_path from current as $$
begin
  new.charged_at_credit := new.charged;
  return new;
end $$;
create trigger charged_at_credit_noted before update of credited on account for each row
  when (new.credited <> old.credited) execute function note_charged_at_credit();

-- Where alerts about an account go: one address for mail, or one webhook.
create table alert_rule (
  id         uuid primary key,
  account_id uuid not null references account,
  shares     smallint[] not null check (cardinality(shares) between 1 and 10),
  email      text,
  webhook    text,
  -- Encrypted.
  secret     bytea,
  created_at timestamptz not null default now(),
  -- Attempts stay listed.
  removed_at timestamptz,
  check (num_nonnulls(email, webhook) = 1 and (webhook is null) = (secret is null))
);
create index on alert_rule (account_id);

-- One row per rule, share and period: an alert is sent once, on any number of instances.
create table alert (
  id         uuid primary key default gen_random_uuid(),
  rule_id    uuid not null references alert_rule,
  -- The month and its limit, or the credit and where it began; a text of its own for a test.
  period     text not null,
  -- Null for a test.
  share      smallint,
  used       amount not null,
  of         amount not null,
  created_at timestamptz(3) not null default now(),
  tries      integer not null default 0,
  next_at    timestamptz not null default now(),
  -- `passed`: a higher share was reached at the same time, and only that one is sent.
  ended      text check (ended in ('sent', 'given_up', 'passed')),
  unique nulls not distinct (rule_id, period, share)
);
create index on alert (next_at) where ended is null;

create table alert_attempt (
  id       uuid primary key default gen_random_uuid(),
  alert_id uuid not null references alert,
  at       timestamptz(3) not null default clock_timestamp(),
  outcome  text not null check (outcome in ('queued', 'sent', 'failed', 'given_up')),
  -- Why it failed: a status or a code, never text of the receiver.
  error    text
);
create index on alert_attempt (alert_id);
