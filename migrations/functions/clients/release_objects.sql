-- The object of a chunk that was deleted is removed from its folder or bucket by the sweeping.
create or replace function release_objects() returns trigger language plpgsql set search_path from current as $$
begin
  update document_object o set remove_after = clock_timestamp() from gone where o.digest = gone.object;
  return null;
end $$;
create or replace trigger released after delete on document_chunk referencing old table as gone
  for each statement execute function release_objects();
