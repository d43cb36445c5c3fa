-- The browsers in which people have signed in: a sign-in in another is reported to the person by mail. A row gives no rights.
create table known_browser (
  person_id  uuid not null references person on delete cascade,
  -- SHA-256 of the value of the browser's cookie.
  hash       bytea not null check (length(hash) = 32),
  expires_at timestamptz not null,
  primary key (person_id, hash)
);
create index on known_browser (expires_at);
