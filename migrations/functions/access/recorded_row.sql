-- What is recorded of a row `t` of the table, as the select list of a query.
create or replace function recorded_row(p_table text) returns text language sql stable set search_path from current as $$
  select format($list$concat_ws('/', %s) as row_key, sha256(convert_to(row(%s)::text, 'UTF8')) as digest,
      jsonb_build_object(%s) as marks$list$,
    (select coalesce(string_agg(format('t.%I', key), ', ' order by place), '''''') from unnest(r.keys) with ordinality k (key, place)),
    string_agg(c.value, ', ' order by c.place),
    string_agg(format($mark$%L, encode(substring(sha256(convert_to(row(%s)::text, 'UTF8')) for 4), 'hex')$mark$, c.name, c.value), ', ') filter (where r.table_name <> 'invoice'))
  from recorded_columns() r cross join lateral (
    -- A scratch key lives longer with each use.
    select name, place, case when r.table_name = 'api_key' and name = 'expires_at' then 'case when t.person_id is null then t.expires_at end'
      else format('t.%I', name) end as value
    from unnest(r.columns) with ordinality c (name, place) where r.table_name <> 'invoice'
    -- With its lines, in one piece and without marks: a draft is saved often.
    union all select 'document', 1, 'invoice_document(t::invoice)' where r.table_name = 'invoice') c
  where r.table_name = p_table group by r.keys
$$;
