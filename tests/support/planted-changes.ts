import type { Queryable } from '../../src/platform/database/database.ts'

/** Frees the recorded tables of everything that could refuse a change. */
const freed = `do $freed$ declare v_statement text; begin
  for v_statement in
    select format('alter table %s drop constraint %I cascade', conrelid::regclass, conname) from pg_constraint
      where conrelid in (select to_regclass(table_name) from recorded_columns()) and contype in ('c', 'u', 'p')
  loop execute v_statement; end loop;
  for v_statement in select format('drop index %s', indexrelid::regclass) from pg_index
      where indisunique and indrelid in (select to_regclass(table_name) from recorded_columns())
  loop execute v_statement; end loop; end $freed$;`

/** Another value of the column `a`, by the category of its type `t`. */
const otherValue = `format(case when t.typcategory = 'S' then $$coalesce(%1$I, '') || 'x'$$ when t.typcategory = 'N' then 'coalesce(%1$I, 0) + 1'
  when t.typcategory = 'B' then 'not coalesce(%1$I, false)' when t.typcategory = 'D' then $$coalesce(%1$I, now()) + interval '1 day'$$
  when t.typcategory = 'A' then 'array_append(%1$I, null)' when t.typcategory = 'E' then '(select max(e) from unnest(enum_range(null::%2$s)) e where e <> %1$I)'
  when t.typname = 'uuid' then 'gen_random_uuid()' when t.typname = 'bytea' then $$sha256(coalesce(%1$I, ''))$$ else $$'{"x": 1}'$$ end,
  a.attname, t.typname)`

/**
 * SQL that makes one change to one row of every recorded table, and writes to `planted` how `verify` must name each: the table, the
 * row, and the column or what happened. `place`: the place of the column that changes.
 */
export function plant(change: { readonly place: number } | 'removed' | 'added'): string {
  const place = typeof change === 'object' ? change.place : 1
  // Scratch keys have a person, and their end is not recorded.
  return `${freed} create temporary table planted (line text); grant select on planted to public;
    do $plant$ declare v record; v_id text; v_row tid; begin
      for v in select r.table_name as name, a.attname as col, a.attname = any (r.keys) as is_key, r.keys, ${otherValue} as other
          from recorded_columns() r join pg_attribute a on a.attrelid = to_regclass(r.table_name)
            and a.attname = (${typeof change === 'object' ? `r.columns[${place}]` : 'coalesce(r.keys[1], r.columns[1])'})
            join pg_type t on t.oid = a.atttypid loop
        execute format('select row_key, ctid from (select t.ctid, %s from %I t %s limit 1) t', recorded_row(v.name), v.name,
          case v.name when 'api_key' then 'where person_id is null' end) into strict v_id, v_row;
        ${{ changed: changeOne, removed: removeOne, added: addOne }[typeof change === 'object' ? 'changed' : change]}
      end loop; end $plant$`
}

const changeOne = `execute format('update %I set %I = %s where ctid = %L', v.name, v.col, v.other, v_row);
  insert into planted values (concat_ws(' ', v.name, v_id, case when v.is_key then 'it is missing'
    when v.name = 'invoice' then 'it was changed without an audit event' else v.col end));`
const removeOne = `execute format('delete from %I where ctid = %L', v.name, v_row);
  insert into planted values (concat_ws(' ', v.name, v_id, 'it is missing'));`
const addOne = `execute format('insert into %I overriding system value select (jsonb_populate_record(t, jsonb_build_object(%L, %s))).* from %I t
    where ctid = %L returning ctid', v.name, v.col, v.other, v.name, v_row) into v_row;
  execute format('select row_key from (select %s from %I t where ctid = %L) t', recorded_row(v.name), v.name, v_row) into v_id;
  insert into planted values (concat_ws(' ', v.name, v_id,
    case when v.keys = '{}' then v.col else 'it was added without an audit event' end));`

/** What was planted and not found, of how many. */
export async function readUnnoticed(
  tampered: Queryable,
): Promise<{ readonly unnoticed: string[]; readonly planted: number }> {
  const found = await tampered.rows<{ line: string }>(
    `select concat_ws(' ', table_name, row_key, coalesce(columns, fault)) as line from unrecorded_changes()`,
  )
  const planted = await tampered.rows<{ line: string }>('select line from planted')
  const lines = new Set(found.map(({ line }) => line))
  return { unnoticed: planted.map(({ line }) => line).filter((line) => !lines.has(line)), planted: planted.length }
}
