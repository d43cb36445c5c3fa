-- The last number of a series only grows, by one.
create or replace function keep_invoice_series() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'INSERT' and new.last = 1 then return new; end if;
  if tg_op = 'UPDATE' and new.last = old.last + 1 and new.name = old.name then return new; end if;
  raise exception 'a series only continues, by one' using errcode = 'insufficient_privilege';
end $$;
