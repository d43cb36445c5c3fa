-- Sign-in links, and the limits of what visitors may try. The mail itself waits in the schema pgboss, which pg-boss creates.

-- What one key has used of a limit, and how often it failed in succession. The key is a hash: of an address, a person or a
-- network.
create table throttle (
  kind       text not null,
  key        bytea not null check (length(key) = 32),
  -- When each use happened that still counts.
  taken      timestamptz[] not null default '{}',
  failures   integer not null default 0,
  failed_at  timestamptz,
  -- When the row loses its meaning and may be deleted.
  expires_at timestamptz not null,
  primary key (kind, key)
);
create index on throttle (expires_at);

-- The sign-in link that was last mailed to an address. The link and the code in the same mail consume this row.
create table email_link (
  -- The normalised address: a new link replaces the one before.
  email_key  text primary key,
  email      text not null,
  -- SHA-256 of the link's token.
  token_hash bytea not null unique check (length(token_hash) = 32),
  -- Encrypted: it is short enough to be guessed from a hash.
  code       bytea not null,
  -- The sign-in attempt that asked for the mail, and its browser.
  state_hash bytea not null check (length(state_hash) = 32),
  device     text not null,
  expires_at timestamptz not null
);
create index on email_link (expires_at);
