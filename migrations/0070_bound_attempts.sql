-- What only the service can write, for all columns of the row: a sign-in that was added or changed with plain SQL is refused, and `verify` finds it.
-- Null: from an earlier version, whose sign-ins are refused, too.
alter table sign_in_attempt add column mac bytea;
