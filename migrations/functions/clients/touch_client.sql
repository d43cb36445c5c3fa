-- Writing an item updates its client, as the same person in the same transaction. The row lock serialises writers. If the
-- client was assigned to someone else or deleted while a writer waited, row-level security rejects the item.
create or replace function touch_client() returns trigger language plpgsql set search_path from current as $$
begin
  update client set changed_at = default where id = new.client_id and deleted_at is null;
  if not found then
    raise exception 'the client is out of reach by now' using errcode = 'TG003';
  end if;
  return null;
end $$;
