-- Starts no draft and no invoice for a client that was erased while the statement waited. Notes, disputes and letters have
-- touch_client().
create or replace function skip_erased() returns trigger language plpgsql set search_path from current as $$
begin
  perform from client where id = new.client_id for key share;
  return case when is_erased(new.client_id) then null else new end;
end $$;
