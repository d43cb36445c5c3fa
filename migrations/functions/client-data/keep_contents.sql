-- A revision never changes, except that erasing its client removes its contents.
create or replace function keep_contents() returns trigger language plpgsql set search_path from current as $$
begin
  if old.data = '{}' or new.data <> '{}' or not erasure_is_due(old.client_id)
    or to_jsonb(new) - array['data', 'erased'] <> to_jsonb(old) - array['data', 'erased'] then
    raise exception 'rows of revision are neither changed nor taken away' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
