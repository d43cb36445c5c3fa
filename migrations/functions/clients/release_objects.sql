-- The object of a chunk that was deleted is removed from its folder or bucket by the sweeping.
create or replace function release_objects() returns trigger language plpgsql set search_path from current as $$
declare
  v_released bigint;
begin
  update document_object o set remove_after = clock_timestamp() from gone where o.digest = gone.object;
  get diagnostics v_released = row_count;
  -- Row-level security skips objects that this role may not see. Their bytes would stay for ever.
  if v_released < (select count(object) from gone) then
    raise exception 'an object of a deleted chunk was not released';
  end if;
  return null;
end $$;
create or replace trigger released after delete on document_chunk referencing old table as gone
  for each statement execute function release_objects();
