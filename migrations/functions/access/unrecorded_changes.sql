-- Rows that are not as they were last recorded.
create or replace function unrecorded_changes() returns table (table_name text, row_key text, columns text, fault text) language plpgsql stable
set timezone = 'UTC' set datestyle = 'ISO, YMD' set bytea_output = 'hex' set search_path from current as $$
declare
  v_table text;
begin
  for v_table in select r.table_name from recorded_columns() r loop
    return query execute format($query$
      with differing as materialized (
        select coalesce(t.row_key, r.row_key) as row_key, r.marks, t.digest is null as missing, r.digest is null as added
        from (select %2$s from %1$I t) t full join (
          select distinct on (row_key) * from recorded_change where table_name = %1$L order by row_key, number desc) r using (row_key)
        where t.digest is distinct from r.digest limit 10)
      select %1$L, d.row_key, case when not d.missing and not d.added then (
          select string_agg(key, ', ' order by key) from jsonb_each_text(t.marks) now (key, mark) where mark is distinct from d.marks ->> key) end,
        case when d.missing then 'it is missing' when d.added then 'it was added without an audit event'
          else 'it was changed without an audit event' end
      from differing d left join (select %2$s from %1$I t) t using (row_key)
    $query$, v_table, recorded_row(v_table));
  end loop;
end $$;
