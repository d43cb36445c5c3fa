-- Records are read whole, so the total size of the items of each kind is limited.
create or replace function refuse_excess() returns trigger language plpgsql set search_path from current as $$
declare
  v_items bigint;
  v_bytes bigint;
begin
  execute format('select count(*), sum(octet_length(%I)) from %I where client_id = $1 and archived_at is null',
    tg_argv[0], tg_table_name) into v_items, v_bytes using new.client_id;
  if v_items > 1000 or v_bytes > 5000000 then
    raise exception 'the client has all that a record may hold' using errcode = 'TG002';
  end if;
  return null;
end $$;
