-- People, how they are known to OpenID providers, their sessions, and sign-ins under way.

create table person (
  id                uuid primary key,
  name              text not null check (length(name) between 1 and 200),
  -- As it was written, and what it is compared by. Null: known by an identity alone.
  email             text,
  email_key         text unique,
  role              text not null check (role in ('consultant', 'partner')),
  status            text not null default 'active' check (status in ('active', 'disabled')),
  created_at        timestamptz not null,
  last_signed_in_at timestamptz,
  check ((email is null) = (email_key is null))
);

-- Who a person is at a provider: the only thing that a provider's sign-in goes by.
create table identity (
  issuer     text not null,
  subject    text not null,
  person_id  uuid not null references person,
  created_at timestamptz not null,
  primary key (issuer, subject)
);
create index on identity (person_id);

-- Written once a minute while it is used: room on the page keeps these writes away from the indexes.
create table session (
  -- SHA-256 of the cookie's value. The value itself is nowhere.
  hash         bytea primary key check (length(hash) = 32),
  id           uuid not null unique,
  person_id    uuid not null references person,
  method       text not null,
  factors      text[] not null check (cardinality(factors) > 0),
  -- What the browser said it is, and the network it came from, for the person's own list.
  device       text not null,
  network      text not null,
  created_at   timestamptz not null,
  last_seen_at timestamptz not null,
  -- The absolute limit; the idle limit counts from last_seen_at.
  ends_at      timestamptz not null,
  -- For logout at or by the provider that vouched: its id here, and its own names for person and session.
  provider     text,
  issuer       text,
  subject      text,
  provider_sid text
) with (fillfactor = 70);
create index on session (person_id);
create index on session (issuer, subject) where issuer is not null;

-- A change of role or status ends every session of the person, whoever makes it and however.
create function end_sessions_of_changed_person() returns trigger language plpgsql set search_path from current as $$
begin
  delete from session where person_id = new.id;
  return null;
end $$;
create trigger person_changed after update of role, status on person for each row
  when (old.role is distinct from new.role or old.status is distinct from new.status)
  execute function end_sessions_of_changed_person();

-- A sign-in under way. It is used once; what is used stays until its time is over, so that a repeated callback can be
-- told from an invented one.
create table sign_in_attempt (
  -- SHA-256 of `state`, and of the cookie that ties the attempt to one browser.
  state_hash    bytea primary key check (length(state_hash) = 32),
  browser_hash  bytea not null check (length(browser_hash) = 32),
  provider      text not null,
  nonce         text not null,
  code_verifier text not null,
  return_to     text not null,
  used          boolean not null default false,
  expires_at    timestamptz not null
);
create index on sign_in_attempt (expires_at);

-- Logout tokens that were taken: each works once.
create table logout_token (
  issuer     text not null,
  jti        text not null,
  expires_at timestamptz not null,
  primary key (issuer, jti)
);
create index on logout_token (expires_at);
