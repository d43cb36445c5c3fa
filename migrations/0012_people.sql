-- Invitations, people whose sign-in data was deleted, and the address that a provider reported last.

create table invitation (
  id           uuid primary key,
  -- As entered, and normalised for comparison.
  email        text not null,
  email_key    text not null,
  name         text not null check (length(name) between 1 and 200),
  role         text not null check (role in ('consultant', 'partner')),
  -- Null for the command line.
  invited_by   uuid references person,
  -- SHA-256 of the link's token. A new mail replaces it.
  token_hash   bytea not null unique check (length(token_hash) = 32),
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  accepted_at  timestamptz,
  -- The person who accepted it.
  person_id    uuid references person,
  withdrawn_at timestamptz,
  check ((accepted_at is null) = (person_id is null))
);
create unique index invitation_open on invitation (email_key) where accepted_at is null and withdrawn_at is null;

-- A deleted person keeps the id and the name, for the audit log and the revisions, and nothing to sign in with.
alter table person
  add column deleted_at timestamptz,
  add check (deleted_at is null or (status = 'disabled' and email is null));

-- The address that the provider reported last, normalised: a person's address follows only a change of it.
alter table identity add column email_key text;
update identity set email_key = person.email_key from person where person.id = identity.person_id;
