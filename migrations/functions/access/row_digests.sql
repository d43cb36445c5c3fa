-- The digest of each row whose number is in (p_after, p_upto]. A seal over a revision still matches once the revision is erased. A
-- revision that was not erased always has content.
create or replace function row_digests(p_table text, p_number text, p_columns text[], p_after bigint, p_upto bigint)
returns table (number bigint, digest bytea)
language plpgsql stable
set timezone = 'UTC' set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set bytea_output = 'hex'
set jit = off set search_path from current
as $$
declare
  v_digest text := format('sha256(convert_to(row(%s)::text, ''UTF8''))', (select string_agg(format('t.%I', name), ', '
    order by place) from unnest(p_columns) with ordinality as c(name, place)));
begin
  if p_table = 'revision' then
    v_digest := format('coalesce(case when t.data = ''{}'' then t.erased end, %s)', v_digest);
  end if;
  return query execute format($query$ select t.%1$I, %3$s from %2$I t where t.%1$I > $1 and t.%1$I <= $2 $query$,
    p_number, p_table, v_digest)
  using p_after, p_upto;
end $$;
