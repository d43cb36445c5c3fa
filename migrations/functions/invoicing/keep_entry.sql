-- An entry that is billed stays as it is, unless its client is erased.
create or replace function keep_entry() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  if exists (select from billed_entry where entry_id = old.id) and not (tg_op = 'DELETE' and erasure_is_due(old.client_id)) then
    raise exception 'the entry is billed' using errcode = 'TG006';
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end $$;
