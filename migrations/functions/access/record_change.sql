-- At the end of the transaction, when its events are in the audit log.
create or replace function record_change() returns trigger language plpgsql security definer
set timezone = 'UTC' set datestyle = 'ISO, YMD' set bytea_output = 'hex' set search_path from current as $$
declare
  v_query constant text := 'select ' || recorded_row(tg_table_name) || ' from (select ($1).*) t';
  v_event constant bigint := own_event();
  -- Not after the event, also if that has a time of its own or the clock was set back since this transaction began.
  v_at constant timestamptz := least(now(), (select at from audit where id = v_event));
  v_key text;
  v_digest bytea;
  v_marks jsonb;
  v_old_key text;
  v_old_digest bytea;
begin
  if tg_op <> 'INSERT' then execute v_query into v_old_key, v_old_digest using old; end if;
  if tg_op <> 'DELETE' then execute v_query into v_key, v_digest, v_marks using new; end if;
  if v_old_key is distinct from v_key and tg_op <> 'INSERT' then
    insert into recorded_change (table_name, row_key, event, at) values (tg_table_name, v_old_key, v_event, v_at);
  end if;
  if (v_key, v_digest) is distinct from (v_old_key, v_old_digest) and tg_op <> 'DELETE' then
    insert into recorded_change (table_name, row_key, digest, marks, event, at)
      values (tg_table_name, v_key, v_digest, v_marks, v_event, v_at);
  end if;
  return null;
end $$;
