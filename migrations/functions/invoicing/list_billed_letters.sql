-- Letters that are billed leave the list of what is to be billed, and return to it when they are free again.
create or replace function list_billed_letters() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op = 'INSERT' then
    delete from unbilled where id = new.client_id and day = last_day(new.month);
  else
    insert into unbilled (kind, id, day, client_id, amount)
      select 'letters', old.client_id, last_day(old.month), old.client_id, sum(cost) from usage_day
      where client_id = old.client_id and day between old.month and last_day(old.month)
        and not exists (select from erased_client e where e.client_id = old.client_id)
      having count(*) > 0
      on conflict do nothing;
  end if;
  return null;
end $$;
