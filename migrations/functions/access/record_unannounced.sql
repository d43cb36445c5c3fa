-- Revisions commit with an event of the audit log. One that does not is recorded, so that `verify` finds it.
create or replace function record_unannounced() returns trigger language plpgsql security definer set search_path from current as $$
begin
  if coalesce(current_setting('tollgate.event', true), '') = '' then
    insert into recorded_change (table_name, row_key) values (tg_table_name, concat_ws('/', new.noun, new.noun_id, new.version));
  end if;
  return null;
end $$;
