-- Bytes of which no document was made are kept for a day, so their number and size are limited for each client.
create or replace function refuse_excess_upload() returns trigger language plpgsql set search_path from current as $$
declare
  v_uploads bigint;
  v_bytes bigint;
begin
  select count(*), sum(bytes) into v_uploads, v_bytes from document_upload u where client_id = new.client_id
    and not exists (select from document_content c where (c.client_id, c.upload_id) = (u.client_id, u.id) and c.used);
  if v_uploads > 1000 or v_bytes > 10000000000 then
    raise exception 'the client has all the uploads that it may have' using errcode = 'TG002';
  end if;
  return null;
end $$;
create or replace trigger bounded after insert on document_upload for each row execute function refuse_excess_upload();
