-- A void invoice frees what it billed.
create or replace function free_void_invoice() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  perform free_billed(new.id);
  return null;
end $$;
