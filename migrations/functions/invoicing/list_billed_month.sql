-- A month that is billed leaves the list of what is to be billed, and returns to it when it is free again.
create or replace function list_billed_month() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  -- Before the statement below takes its snapshot: see close_months().
  lock table unbilled in row exclusive mode;
  if tg_op = 'INSERT' then
    delete from unbilled where id = new.account_id and day = last_day(new.month);
  else
    insert into unbilled (kind, id, day, account_id, amount)
      select 'usage', old.account_id, last_day(old.month), old.account_id, sum(cost) from usage_day
      where account_id = old.account_id and day between old.month and last_day(old.month)
      having count(*) > 0
      on conflict do nothing;
  end if;
  return null;
end $$;
