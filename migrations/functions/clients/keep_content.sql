-- A content never changes, except that a document begins to use it.
create or replace function keep_content() returns trigger language plpgsql set search_path from current as $$
begin
  if not new.used or to_jsonb(new) - 'used' <> to_jsonb(old) - 'used' then
    raise exception 'rows of document_content are not changed' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create or replace trigger kept before update on document_content for each row execute function keep_content();
