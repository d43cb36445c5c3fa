-- A changed entry is listed anew.
create or replace function list_changed_entry() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if tg_op <> 'INSERT' then delete from unbilled where id = old.id; end if;
  if tg_op <> 'DELETE' then perform list_entry(new.id); end if;
  return null;
end $$;
