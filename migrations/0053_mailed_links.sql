-- An address has up to three live links of each kind, so that a stranger's request does not void the one that its owner is
-- about to open. A new one replaces only that of the same browser, or for resets of the same network.
--
-- Instances of the previous version insert with `on conflict (email_key)`, so email_key stays unique: for a link of this version,
-- it is the address, a space and the token's hash.
alter table email_link
  add column address_key text not null generated always as (split_part(email_key, ' ', 1)) stored,
  -- Whether it was requested from a network in which somebody has signed in with the address.
  add column is_known boolean not null default false;
create index on email_link (address_key);

alter table password_reset
  add column address_key text not null generated always as (split_part(email_key, ' ', 1)) stored,
  add column is_known boolean not null default false,
  -- SHA-256 of the network that requested it.
  add column network_hash bytea check (length(network_hash) = 32);
create index on password_reset (address_key);

-- The networks in which people have signed in.
create table known_network (
  -- SHA-256 of the network and of the person's id or normalised address.
  hash       bytea primary key check (length(hash) = 32),
  expires_at timestamptz not null
);
create index on known_network (expires_at);
