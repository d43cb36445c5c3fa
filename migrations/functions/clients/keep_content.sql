-- The bytes of a content never change. What may change: a document begins to use it, its text is read, and uploading it again before it is used renews its age.
create or replace function keep_content() returns trigger language plpgsql set search_path from current as $$
declare
  v_changing constant text[] := array['used', 'reading', 'tries', 'claimed_until', 'created_at'];
begin
  if old.used and not new.used or old.used and new.created_at <> old.created_at
    or to_jsonb(new) - v_changing <> to_jsonb(old) - v_changing then
    raise exception 'rows of document_content are not changed' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create or replace trigger kept before update on document_content for each row execute function keep_content();
