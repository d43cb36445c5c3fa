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

create or replace function end_unfinished_sign_ins(people uuid[]) returns void language plpgsql set search_path from current as $$
begin
  delete from sign_in_attempt
  where step = 'proven' and (people is null or person_id = any(people))
    or step = 'begun' and links_to is not null and (people is null or links_to = any(people));
  delete from enrolment
  where people is null or session_id in (select s.id from session s where s.person_id = any(people));
  delete from password_reset
  where people is null or address_key in (select p.email_key from person p where p.id = any(people));
  delete from email_link
  where people is null or address_key in (select p.email_key from person p where p.id = any(people));
end $$;
