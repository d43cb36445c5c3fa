-- What is billed leaves the list, and what is free again returns to it.
create or replace function list_billed_entry() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op = 'INSERT' then
    delete from unbilled where id = new.entry_id;
  else
    perform list_entry(old.entry_id);
  end if;
  return null;
end $$;
