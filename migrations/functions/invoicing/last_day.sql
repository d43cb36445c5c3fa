-- The last day of a month.
create or replace function last_day(p_month date) returns date language sql immutable parallel safe
  return (p_month + interval '1 month' - interval '1 day')::date;
