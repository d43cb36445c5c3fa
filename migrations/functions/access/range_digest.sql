-- The digest and marks of a range of rows.
create or replace function range_digest(p_table text, p_number text, p_columns text[], p_after bigint, p_upto bigint,
  out rows bigint, out digest bytea, out marks bytea)
language sql stable set search_path from current as $$
  select count(*), sha256(coalesce(string_agg(r.digest, ''::bytea order by r.number), ''::bytea)),
    coalesce(string_agg(int4send((r.number - p_after)::integer) || substring(r.digest from 1 for 4), ''::bytea
      order by r.number), ''::bytea)
  from row_digests(p_table, p_number, p_columns, p_after, p_upto) r
$$;
