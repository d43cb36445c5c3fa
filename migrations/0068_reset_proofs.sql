-- What only the service can write: a link that was added with plain SQL is refused, and `verify` finds it. Null: from an earlier version,
-- whose links are refused, too.
alter table password_reset add column proof bytea;
