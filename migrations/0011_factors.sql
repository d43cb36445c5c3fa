-- Passkeys, second factors and recovery codes; linked identities.

-- The user handle of a person in WebAuthn. It identifies them in their authenticators, and says nothing about them.
create table passkey_owner (
  person_id uuid primary key references person on delete cascade,
  handle    bytea not null unique check (length(handle) = 64)
);

create table passkey (
  id            uuid primary key,
  person_id     uuid not null references passkey_owner on delete cascade,
  -- The host that it works for.
  rp_id         text not null,
  credential_id bytea not null unique,
  public_key    bytea not null,
  -- How often the authenticator has signed; always 0 if it does not count.
  counter       bigint not null check (counter >= 0),
  transports    text[] not null,
  name          text not null check (length(name) between 1 and 200),
  created_at    timestamptz not null,
  last_used_at  timestamptz
);
create index on passkey (person_id);

-- A person's authenticator app.
create table totp (
  person_id  uuid primary key references person on delete cascade,
  -- Encrypted.
  secret     bytea not null,
  -- The time step of the last accepted code. Codes of it and of earlier steps are refused.
  last_step  bigint not null,
  created_at timestamptz not null
);

-- A person's verified telephone number, for codes by text message.
create table phone (
  person_id   uuid primary key references person on delete cascade,
  number      text not null check (number ~ '^\+[1-9][0-9]{6,14}$'),
  verified_at timestamptz not null
);

-- The unused recovery codes: SHA-256 of 80 random bits each.
create table recovery_code (
  person_id uuid not null references person on delete cascade,
  hash      bytea not null check (length(hash) = 32),
  primary key (person_id, hash)
);

-- A second factor that a signed-in person has begun to set up.
create table enrolment (
  session_id uuid primary key references session (id) on delete cascade,
  factor     text not null,
  data       jsonb not null,
  tries      integer not null default 0,
  expires_at timestamptz not null
);

-- enrols: the second factor is being set up, not shown. links_to: the person who gets the identity, instead of a sign-in.
alter table sign_in_attempt
  add column enrols boolean not null default false,
  add column links_to uuid references person on delete cascade;

-- Names an identity in URLs.
alter table identity add column id uuid not null default gen_random_uuid() unique;
