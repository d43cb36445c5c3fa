-- An erased client stays as it is. Reads erased_client as its owner.
create or replace function refuse_erased() returns trigger language plpgsql set search_path from current as $$
begin
  if is_erased(old.id) then
    raise exception 'the client was erased' using errcode = 'TG003';
  end if;
  return new;
end $$;
