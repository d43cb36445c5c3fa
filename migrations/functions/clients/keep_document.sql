-- A document refers to a content of its client and takes its type and size from it. From then on, the content is in use and is kept.
create or replace function keep_document() returns trigger language plpgsql set search_path from current as $$
begin
  update document_content set used = true where client_id = new.client_id and digest = new.digest and not used;
  select type, bytes into new.type, new.bytes from document_content where client_id = new.client_id and digest = new.digest;
  if not found then
    raise exception 'the client has no such content' using errcode = 'TG007';
  end if;
  return new;
end $$;
create or replace trigger kept before insert or update of digest on document for each row execute function keep_document();
