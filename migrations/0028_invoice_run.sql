-- The monthly run of invoices: which months were run, so that one is run once by several instances and none is missed.
-- Whether an account is billed is not decided here but by billed_month.
create table invoice_run (
  -- By its first day (UTC).
  month       date primary key check (extract(day from month) = 1),
  started_at  timestamptz(3) not null default clock_timestamp(),
  -- An instance works on it and extends this time. After it, another instance continues.
  busy_until  timestamptz(3) not null,
  finished_at timestamptz(3)
);
