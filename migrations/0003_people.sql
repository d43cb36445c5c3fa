-- People, their identities at OpenID providers, their sessions, and sign-in attempts.

create table person (
  id                uuid primary key,
  name              text not null check (length(name) between 1 and 200),
  -- As entered, and normalised for comparison. Null if the person is known by an identity alone.
  email             text,
  email_key         text unique,
  role              text not null check (role in ('consultant', 'partner')),
  status            text not null default 'active' check (status in ('active', 'disabled')),
  created_at        timestamptz not null,
  last_signed_in_at timestamptz,
  check ((email is null) = (email_key is null))
);

-- Who a person is at a provider. Only this decides who signs in there; an e-mail address never does.
create table identity (
  issuer     text not null,
  subject    text not null,
  person_id  uuid not null references person,
  created_at timestamptz not null,
  primary key (issuer, subject)
);
create index on identity (person_id);

-- last_seen_at is written once a minute: free space on each page keeps these updates out of the indexes.
create table session (
  -- SHA-256 of the cookie's value. The value itself is not stored.
  hash         bytea primary key check (length(hash) = 32),
  id           uuid not null unique,
  person_id    uuid not null references person,
  method       text not null,
  factors      text[] not null check (cardinality(factors) > 0),
  -- The browser and its network, for the person's own list of sessions.
  device       text not null,
  network      text not null,
  created_at   timestamptz not null,
  last_seen_at timestamptz not null,
  -- The absolute limit; the idle limit counts from last_seen_at.
  ends_at      timestamptz not null,
  -- For logout at or by the provider: its id in the configuration, and its names for the person and the session.
  provider     text,
  issuer       text,
  subject      text,
  provider_sid text,
  -- Encrypted: signing out at the provider needs it (id_token_hint).
  id_token     bytea
) with (fillfactor = 70);
create index on session (person_id);
create index on session (issuer, subject) where issuer is not null;

-- A change of role or status ends every session of the person, however it is made.
create function end_sessions_of_changed_person() returns trigger language plpgsql set search_path from current as $$
begin
  delete from session where person_id = new.id;
  return null;
end $$;
create trigger person_changed after update of role, status on person for each row
  when (old.role is distinct from new.role or old.status is distinct from new.status)
  execute function end_sessions_of_changed_person();

-- A sign-in that is not complete. An attempt has begun; is proven while a second factor is due; and is used once, when its
-- session starts or it fails. Used attempts stay until they expire, to tell a repeated callback from an invented one.
create table sign_in_attempt (
  -- SHA-256 of `state`, and of the cookie that binds the attempt to one browser.
  state_hash   bytea primary key check (length(state_hash) = 32),
  browser_hash bytea not null check (length(browser_hash) = 32),
  method       text not null,
  return_to    text not null,
  expires_at   timestamptz not null,
  step         text not null default 'begun' check (step in ('begun', 'proven', 'used')),
  -- Submissions in this step.
  tries        integer not null default 0,
  -- What the method, or in the step 'proven' the chosen second factor, keeps until the browser returns.
  data         jsonb not null default '{}',
  factor       text,
  -- The person and the encrypted proof. A proven attempt is not a session.
  person_id    uuid references person on delete cascade,
  proof        bytea,
  check ((step = 'proven') = (person_id is not null)),
  check ((step = 'proven') = (proof is not null))
);
create index on sign_in_attempt (expires_at);
create index on sign_in_attempt (browser_hash) where step = 'proven';

-- Accepted logout tokens: each works once.
create table logout_token (
  issuer     text not null,
  jti        text not null,
  expires_at timestamptz not null,
  primary key (issuer, jti)
);
create index on logout_token (expires_at);
