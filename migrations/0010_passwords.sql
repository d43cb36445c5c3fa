-- Passwords, and the links with which people choose one.

create table password (
  person_id  uuid primary key references person on delete cascade,
  -- A PHC string.
  hash       text not null check (hash like '$argon2id$%'),
  changed_at timestamptz not null
);

-- A link that was mailed to an address: it proves the address, and works once. A new one replaces the old one.
create table password_reset (
  email_key  text primary key,
  -- SHA-256 of the link's token.
  token_hash bytea not null unique check (length(token_hash) = 32),
  -- The address as it was entered.
  email      text not null,
  expires_at timestamptz not null
);
create index on password_reset (expires_at);
