-- A content never changes, except that a document begins to use it and that its text is read, which no portal role says.
create or replace function keep_content() returns trigger language plpgsql set search_path from current as $$
declare
  v_reading constant text[] := array['used', 'reading', 'tries', 'claimed_until'];
begin
  if old.used and not new.used or to_jsonb(new) - v_reading <> to_jsonb(old) - v_reading then
    raise exception 'rows of document_content are not changed' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create or replace trigger kept before update on document_content for each row execute function keep_content();
