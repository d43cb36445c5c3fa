import type { Queryable } from '../../src/platform/database/database.ts'

/** All that PostgreSQL knows of the schema. `verify` compares less, because its lines must be the same with every version of PostgreSQL. */
const facts = `
  with own as (
    select c.*, c.relname as name from pg_class c where c.relnamespace = current_schema()::regnamespace and not c.relispartition
      and c.relkind <> 'i' and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
  ), routine as (
    select p.*, p.oid::regprocedure as name from pg_proc p where p.pronamespace = current_schema()::regnamespace and p.prokind <> 'a'
      and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = p.oid and deptype = 'e')
  ), rights as (
    select 'table ' || name as object, relowner as owner, relacl as acl from own
    union all select format('column %s.%s', name, attname), relowner, attacl from own join pg_attribute on attrelid = own.oid
    union all select 'function ' || name, proowner, coalesce(proacl, acldefault('f', proowner)) from routine
    union all select 'type ' || typname, typowner, typacl from pg_type where typnamespace = current_schema()::regnamespace and typtype in ('d', 'e', 'c')
    union all select 'schema', nspowner, nspacl from pg_namespace where nspname = current_schema()
    union all select format('defaults of %s', defaclobjtype), defaclrole, defaclacl from pg_default_acl
  )
  select format('table %s %s, of the owner: %s, persistent %s, options %s, toast %s, by %s, secured %s %s, replicates %s', relkind, name,
    relowner = current_user::regrole, relpersistence, reloptions, (select reloptions from pg_class t where t.oid = own.reltoastrelid),
    pg_get_partkeydef(oid), relrowsecurity, relforcerowsecurity, relreplident) as fact from own
  union all
  select format('column %s of %s is %s %s, null %s, default %s, generated %s, identity %s, collation %s, storage %s %s %s %s',
    rank() over (partition by attrelid order by attnum), own.name, attname, format_type(atttypid, atttypmod), not attnotnull,
    pg_get_expr(adbin, adrelid), attgenerated, attidentity, attcollation::regcollation, attstorage, attcompression, attstattarget, attoptions)
    from own join pg_attribute a on attrelid = own.oid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped and relkind <> 'S'
  union all
  select format('constraint %s of %s%s: %s, valid %s', conname, own.name, contypid::regtype, pg_get_constraintdef(c.oid), convalidated)
    from pg_constraint c left join own on own.oid = conrelid where own.oid is not null or contypid <> 0 and connamespace = current_schema()::regnamespace
  union all
  select format('index %s, valid %s, ready %s, identifies %s, clusters %s', pg_get_indexdef(indexrelid), indisvalid, indisready, indisreplident, indisclustered)
    from pg_index join own on own.oid = indrelid
  union all
  select format('%s, enabled %s', pg_get_triggerdef(t.oid), tgenabled) from pg_trigger t join own on own.oid = tgrelid where not tgisinternal
  union all
  select format('policy %s on %s for %s, permissive %s, to %s using %s with check %s', polname, own.name, polcmd, polpermissive,
    (select string_agg(case g when 0 then 'public' else g::regrole::text end, ', ' order by g::regrole::text) from unnest(polroles) g),
    pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) from pg_policy join own on own.oid = polrelid
  union all
  select format('right on %s: %s to %s by %s, grants on %s', object, privilege_type, case when grantee = 0 then 'public' when grantee = owner then 'owner'
    else grantee::regrole::text end, case when grantor = owner then 'owner' else grantor::regrole::text end, is_grantable)
    from rights cross join lateral aclexplode(acl)
    -- The next start gives the portal's login its own, and a dump of PostgreSQL 15 does not know MAINTAIN.
    where privilege_type <> 'MAINTAIN' and (object, grantee::regrole::text) <> ('schema', portal_role('portal'))
  union all
  select format('function %s of the owner: %s, %s', name, proowner = current_user::regrole, pg_get_functiondef(oid)) from routine
  union all
  select format('type %s %s: %s %s %s %s %s, of the owner: %s', typtype, typname, format_type(typbasetype, typtypmod), typnotnull, typdefault, typcollation,
    (select string_agg(enumlabel, ', ' order by enumsortorder) from pg_enum where enumtypid = t.oid), typowner = current_user::regrole)
    from pg_type t where typnamespace = current_schema()::regnamespace and typtype in ('d', 'e')
  union all
  select format('sequence %s: %s %s %s %s %s %s %s, of %s', own.name, seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle,
    (select string_agg(format('%s.%s', refobjid::regclass, attname), ', ') from pg_depend join pg_attribute on attrelid = refobjid and attnum = refobjsubid
      where classid = 'pg_class'::regclass and objid = own.oid and refclassid = 'pg_class'::regclass and deptype in ('a', 'i')))
    from pg_sequence join own on own.oid = seqrelid
  union all
  select format('partition %s', pg_get_expr(relpartbound, oid)) from pg_class where relispartition and relnamespace = current_schema()::regnamespace
  union all
  select format('rule %s', pg_get_ruledef(r.oid)) from pg_rewrite r join own on own.oid = ev_class
  union all
  select format('statistics %s', pg_get_statisticsobjdef(oid)) from pg_statistic_ext where stxnamespace = current_schema()::regnamespace
  union all
  select format('comment on %s %s: %s', (i).type, (i).identity, description) from pg_description
    cross join lateral pg_identify_object(classoid, objoid, objsubid) i where (i).schema = current_schema()
  union all
  select format('event trigger %s', evtname) from pg_event_trigger
  union all
  select format('publication %s', pubname) from pg_publication
  union all
  -- Every object of any kind: what the lines above do not know of is still missed, or found, by its name.
  select format('%s %s', (i).type, (i).identity) from pg_depend cross join lateral pg_identify_object(classid, objid, objsubid) i
    where refclassid = 'pg_namespace'::regclass and refobjid = current_schema()::regnamespace
  union all
  -- Those of the portal, by their purpose.
  select format('role %s: %s %s %s %s %s %s', rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication) from pg_roles
    where rolname in (select portal_role(r) from unnest(array['consultant', 'partner', 'portal']) r)
  union all
  select format('role %s has %s', member::regrole, roleid::regrole) from pg_auth_members
    where member::regrole::text in (select portal_role(r) from unnest(array['consultant', 'partner', 'portal']) r)
  order by 1`

/** The end of the names of the portal's roles, which differs between databases. */
const suffix = /_[0-9a-f]{8}\b/g

/** A line for each property of each object in the schema. */
export async function readWholeSchema(database: Queryable): Promise<string[]> {
  const rows = await database.rows<{ fact: string }>(facts)
  return rows.map(({ fact }) => fact.replaceAll(suffix, '_…'))
}

/** A line for each row of each table, without times, and without the key that is drawn for each database. As a superuser. */
export async function readAllRows(database: Queryable): Promise<string[]> {
  const [{ query } = { query: '' }] = await database.rows<{ query: string }>(`
    select string_agg(format('select %L || (to_jsonb(t) - %L::text[])::text as row from %I t', relname || ' ', array(
        select attname from pg_attribute where attrelid = c.oid and (atttypid = 'timestamptz'::regtype or attname in ('key', 'digest', 'marks'))),
      relname), ' union all ') || ' order by 1' as query
    from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`)
  return (await database.rows<{ row: string }>(query)).map(({ row }) => row)
}
