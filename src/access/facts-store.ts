import type { Queryable } from '../platform/database/database.ts'

/** Functions in C come with PostgreSQL's extensions: only a superuser can create them. */
const ours = `prolang <> (select oid from pg_language where lanname = 'c')`

/**
 * The columns, indexes, constraints, triggers, row-level security, permissions and roles of the catalogue, one line each. Roles appear by
 * their purpose, because their names differ between databases. The owner's permissions are listed only for append-only
 * tables.
 */
const facts = `
  with role as (
    select oid, rolname, for_whom from pg_roles join (
      select portal_role(r) as name, r as for_whom from unnest(array['consultant', 'developer', 'partner', 'portal']) r) p on name = rolname
  ), own as (
    select c.oid, c.relname, c.relkind, c.relowner, c.relacl, c.relispartition, c.relrowsecurity, c.relforcerowsecurity
    from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S')
  ), granted as (
    select own.oid, own.relname, own.relowner, '' as columns, a.grantee, a.privilege_type
    from own cross join lateral aclexplode(own.relacl) a
    union all
    select own.oid, own.relname, own.relowner, ' (' || string_agg(t.attname, ', ' order by t.attname) || ')', a.grantee,
      a.privilege_type
    from own join pg_attribute t on t.attrelid = own.oid cross join lateral aclexplode(t.attacl) a
    group by 1, 2, 3, a.grantee, a.privilege_type
  )
  select format('trigger %s on %s calls %s (%s)%s%s', tgname, relname, p.proname, tgtype,
      (select ' of ' || string_agg(attname, ', ' order by attname) from pg_attribute where attrelid = tgrelid and attnum = any (tgattr)),
      case tgenabled when 'O' then '' else ', disabled' end) as fact
    from pg_trigger join own on own.oid = tgrelid join pg_proc p on p.oid = tgfoid
    where not tgisinternal and not relispartition
  union all
  select format('row-level security of %s%s', relname, case when relforcerowsecurity then ' binds its owner' else '' end)
    from own where relrowsecurity
  union all
  select format('policy %s on %s for %s%s to %s%s%s', polname, relname, polcmd, case when polpermissive then '' else ' restricts' end,
      (select string_agg(coalesce(r.for_whom, case g when 0 then 'public' when own.relowner then 'owner' else g::regrole::text end), ', '
        order by 1) from unnest(polroles) g left join role r on r.oid = g),
      ' using ' || regexp_replace(pg_get_expr(polqual, polrelid), '[\\s()]+', ' ', 'g'),
      ' with check ' || regexp_replace(pg_get_expr(polwithcheck, polrelid), '[\\s()]+', ' ', 'g'))
    from pg_policy join own on own.oid = polrelid
  union all
  select format('grant %s%s on %s to %s', lower(privilege_type), columns, relname, coalesce(r.for_whom,
      case grantee when 0 then 'public' when relowner then 'owner' else grantee::regrole::text end))
    from granted left join role r on r.oid = grantee
    where grantee <> relowner or (privilege_type in ('UPDATE', 'DELETE', 'TRUNCATE') and exists (
      select from pg_trigger where tgrelid = granted.oid and tgname = 'append_only'))
  union all
  select format('function %s runs as its owner', proname) from pg_proc
    where pronamespace = current_schema()::regnamespace and prosecdef
  union all
  select format('function %s has no safe search_path', proname) from pg_proc
    where pronamespace = current_schema()::regnamespace and (prosecdef or prosqlbody is null and ${ours})
      and not exists (select from unnest(proconfig) s where s ~ '^search_path=.*pg_temp"?$')
  union all
  select format('function %s is %s', proname, regexp_replace(pg_get_function_sqlbody(oid), '[\\s()]+', ' ', 'g'))
    from pg_proc where pronamespace = current_schema()::regnamespace and proname <> 'portal_role' and prosqlbody is not null
  union all
  select format('grant execute on %s to %s', proname, coalesce(r.for_whom, case a.grantee when 0 then 'public' else a.grantee::regrole::text end))
    from pg_proc cross join lateral aclexplode(proacl) a left join role r on r.oid = a.grantee
    where pronamespace = current_schema()::regnamespace and a.grantee <> proowner
  union all
  select format('grant create on schema %s to %s', nspname, coalesce(r.for_whom, case a.grantee when 0 then 'public' else a.grantee::regrole::text end))
    from pg_namespace cross join lateral aclexplode(nspacl) a left join role r on r.oid = a.grantee
    where nspname = current_schema() and a.privilege_type = 'CREATE' and (a.grantee = 0 or r.oid is not null)
  union all
  -- A database that is new or restored has no rights of its own yet; the next start revokes this one.
  select format('grant temporary on the database to %s', coalesce(r.for_whom, 'public'))
    from pg_database d cross join lateral aclexplode(d.datacl) a left join role r on r.oid = a.grantee
    where d.datname = current_database() and a.privilege_type = 'TEMPORARY' and (a.grantee = 0 or r.oid is not null)
      and exists (select from role join pg_roles on pg_roles.oid = role.oid where for_whom = 'portal' and rolcanlogin)
  union all
  select format('role %s%s', role.for_whom, concat(case when a.rolinherit then ', inherits' end, case when a.rolsuper then ', superuser' end,
      case when a.rolbypassrls then ', bypasses row-level security' end, case when a.rolcreaterole then ', creates roles' end,
      case when a.rolcreatedb then ', creates databases' end))
    from role join pg_roles a on a.oid = role.oid
  union all
  select format('role %s is a member of %s', m.for_whom, coalesce(r.for_whom, a.roleid::regrole::text))
    from pg_auth_members a join role m on m.oid = a.member left join role r on r.oid = a.roleid
  union all
  select format('constraint %s on %s', conname, relname) from pg_constraint join own on own.oid = conrelid
    where contype in ('c', 'p', 'u', 'f') and not relispartition
  union all
  select format('index %s on %s%s', i.relname, own.relname, case when not x.indisvalid then ', invalid' end)
    from pg_index x join own on own.oid = x.indrelid join pg_class i on i.oid = x.indexrelid where not own.relispartition
  union all
  select format('column %s of %s is %s', a.attname, t.relname, format_type(a.atttypid, a.atttypmod))
    from pg_attribute a join pg_class t on t.oid = a.attrelid
    where t.relnamespace = current_schema()::regnamespace and t.relkind in ('r', 'p', 'f') and not t.relispartition
      and a.attnum > 0 and not a.attisdropped
  order by 1`

export async function readFacts(database: Queryable): Promise<string[]> {
  return (await database.rows<{ fact: string }>(facts)).map(({ fact }) => fact)
}

export interface StoredFunction {
  readonly name: string
  readonly body: string
}

/** The functions whose body is text. The bodies of the others are facts. */
export function readFunctions(database: Queryable): Promise<StoredFunction[]> {
  return database.rows(
    `select proname as name, prosrc as body from pg_proc
     where pronamespace = current_schema()::regnamespace and prosqlbody is null and ${ours} order by proname`,
  )
}

/** The partitions that the ledger lacks for this month and the next. */
export function findMissingPartitions(database: Queryable): Promise<object[]> {
  return database.rows(
    `select name as partition, 'the ledger has no such partition' as fault
     from (select date_trunc('month', now() at time zone 'UTC') as month) m,
       lateral (values ('ledger_' || to_char(month, 'YYYY_MM')), ('ledger_' || to_char(month + interval '1 month', 'YYYY_MM'))) p(name)
     where not exists (select from pg_inherits join pg_class c on c.oid = inhrelid
       where inhparent = 'ledger'::regclass and c.relname = name)`,
  )
}
