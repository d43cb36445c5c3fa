-- Records every row of a table as it is, at the time of the last migration.
create or replace function record_all(p_table text) returns void language plpgsql
set timezone = 'UTC' set datestyle = 'ISO, YMD' set bytea_output = 'hex' set search_path from current as $$
begin
  execute format('insert into recorded_change (table_name, row_key, digest, marks, at)
    select %L, t.*, coalesce((select max(at) from migration), now()) from (select %s from %I t) t', p_table, recorded_row(p_table), p_table);
end $$;
-- The tables that are not recorded yet.
do $$
declare
  v_table record;
begin
  for v_table in select * from recorded_columns() r where not exists (
    select from pg_trigger where tgrelid = to_regclass(r.table_name) and tgfoid = to_regproc('record_change')) loop
    execute format('create constraint trigger recorded after insert or delete or update of %s on %I
      deferrable initially deferred for each row execute function record_change()',
      (select string_agg(distinct quote_ident(name), ', ') from unnest(v_table.keys || v_table.columns) name), v_table.table_name);
    perform record_all(v_table.table_name);
  end loop;
end $$;
