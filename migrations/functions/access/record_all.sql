-- Records every row of a table as it is, within a migration.
create or replace function record_all(p_table text) returns void language plpgsql
set timezone = 'UTC' set datestyle = 'ISO, YMD' set bytea_output = 'hex' set search_path from current as $$
begin
  execute format('insert into recorded_change (table_name, row_key, digest, marks) select %L, t.* from (select %s from %I t) t',
    p_table, recorded_row(p_table), p_table);
end $$;
