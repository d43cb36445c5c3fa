-- A word encrypted with the key for secrets, so that an instance with another key can tell. At most one row; the first start with a
-- key writes it.
create table encryption_check (
  only_row boolean primary key default true check (only_row),
  encrypted bytea not null
);
