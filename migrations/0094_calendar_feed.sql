-- At whose address a calendar program reads a person's tasks.
create table calendar_feed (
  person_id  uuid primary key references person on delete cascade,
  -- The address is computed from it with the installation's key, which is not in the database, so a row that was planted here yields no address.
  id         uuid not null,
  created_at timestamptz(3) not null default now(),
  read_at    timestamptz(3)
);
