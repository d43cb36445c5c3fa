import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { Client } from 'pg'
import { readFunctionFiles } from '../platform/database/function-files.ts'
import { shippedMigrations } from '../platform/database/migration-files.ts'
import { createTestDatabase } from '../../tests/support/database.ts'
import { fixture, setUp } from '../../tests/support/fixture.ts'
import { valuesOf } from '../../tests/support/json.ts'
import { portalAddress } from './portal/login.ts'

/** Runs an attacker's SQL as the portal's login. */
let attacker: Client
const anna = randomUUIDv7()
const client = randomUUIDv7()

/** A database in which people have signed in, so that only the clock's time is accepted. */
const home = fixture(() => createTestDatabase())
const owner = fixture(() => new Client(home.url))
setUp(async () => {
  await owner.connect()
  await owner.query(`insert into person (id, name, role, created_at, last_signed_in_at)
    values ('${anna}', 'Anna', 'consultant', now(), now())`)
  const superuser = new Client(home.superuserUrl)
  await superuser.connect()
  await superuser.query(`insert into client (id, name, consultant_id) values ('${client}', 'Berg', '${anna}')`)
  await superuser.end()
})
after(() => owner.end())

test('B91: every function is immune to temporary tables', async () => {
  const { rows } = await owner.query<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_proc p
     where pronamespace = 'public'::regnamespace
       and not exists (select from unnest(proconfig) c where replace(c, ' ', '') = 'search_path=public,pg_temp')
       and (prosecdef or prosqlbody is null and prolang <> (select oid from pg_language where lanname = 'c'))`,
  )
  const remedy = 'add "set search_path from current" to the function, or write its body as "return …"'
  assert.deepEqual(valuesOf(rows, 'name'), [], remedy)
})

test('every function has its file, but the one with the name of the database in it', async () => {
  const { rows } = await owner.query<{ name: string }>(
    `select distinct proname::text as name from pg_proc p where pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1`,
  )
  const files = await readFunctionFiles(shippedMigrations)
  assert.deepEqual(valuesOf(rows, 'name'), [...files.map(({ name }) => name), 'portal_role'].toSorted())
  for (const { name, sql } of files) assert.ok(sql.includes(`create or replace function ${name}(`), name)
})

test('B91: only the owner may create temporary tables', async () => {
  attacker = new Client(await portalAddress(home.url))
  await attacker.connect()
  await assert.rejects(attacker.query('create temporary table person (id uuid)'), { code: '42501' })
  await attacker.end()
  await owner.query('begin; create temporary table mine (id uuid); rollback')
})

/** Sets a role until the end of the transaction. */
const become = (role: 'consultant' | 'partner', person = anna) =>
  attacker.query(
    `select set_config('role', portal_role('${role}'), true), set_config('tollgate.person', '${person}', true)`,
  )

describe("B91: even if temporary tables are allowed again, the portal's login", () => {
  setUp(async () => {
    const address = await portalAddress(home.url)
    await owner.query(
      `do $$ begin execute format('grant temporary on database %I to public', current_database()); end $$`,
    )
    attacker = new Client(address)
    await attacker.connect()
    await attacker.query('set search_path = pg_temp, public')
  })
  after(() => attacker.end())
  beforeEach(() => attacker.query('rollback').then(() => attacker.query('begin')))

  test('cannot set the time of a change', async () => {
    await attacker.query('create temporary table person (last_signed_in_at timestamptz)')
    await attacker.query('grant select on person to public')
    await attacker.query(`set local tollgate.time = '2020-01-01'`)
    await assert.rejects(attacker.query('select public.sample_time()'), { code: '42501' })
    await attacker.query('rollback; begin')
    await attacker.query(`set local tollgate.time = '2020-01-01'`)
    await become('consultant')
    await assert.rejects(
      attacker.query(`insert into public.audit (action, outcome) values ('client_read', 'allowed')`),
      { code: '42501' },
    )
  })

  test('cannot suppress a revision', async () => {
    await attacker.query(
      'create temporary table revision (noun text, noun_id uuid, version int, client_id uuid, at timestamptz, person_id uuid, archived bool, data jsonb)',
    )
    await attacker.query('grant all on revision to public')
    await become('consultant')
    await attacker.query(`update public.client set name = 'Forged', version = 2 where id = '${client}'`)
    const { rows } = await attacker.query(
      `select (select count(*)::int from pg_temp.revision) as forged,
         (select count(*)::int from public.revision where noun_id = '${client}') as kept`,
    )
    assert.deepEqual(rows, [{ forged: 0, kept: 2 }])
  })

  test('cannot act as a partner', async () => {
    await attacker.query(
      `create temporary table person as select '${anna}'::uuid as id, 'partner' as role, 'active' as status`,
    )
    await attacker.query('grant select on person to public')
    const { rows } = await attacker.query(`select public.is_partner('${anna}') as partner`)
    assert.deepEqual(rows, [{ partner: false }])
  })

  test('cannot write to a record without locking its client', async () => {
    await attacker.query(
      `create temporary table client as select '${client}'::uuid as id, null::timestamptz as changed_at, null::timestamptz as deleted_at`,
    )
    await attacker.query('grant all on client to public')
    await become('consultant')
    const { rows: earlier } = await attacker.query(`select changed_at from public.client where id = '${client}'`)
    await attacker.query(
      `insert into public.note (id, client_id, date, text) values ('${randomUUIDv7()}', '${client}', '2026-01-01', 'n')`,
    )
    const { rows: later } = await attacker.query(`select changed_at from public.client where id = '${client}'`)
    assert.notDeepEqual(later, earlier)
  })

  test('cannot fill a record beyond its limit', async () => {
    await attacker.query('create temporary table note (text text, client_id uuid, archived_at timestamptz)')
    await attacker.query('grant select on note to public')
    await become('consultant')
    await assert.rejects(
      attacker.query(
        `insert into public.note (id, client_id, date, text)
         select gen_random_uuid(), '${client}', '2026-01-01', repeat('x', 1000000) from generate_series(1, 6)`,
      ),
      { code: 'TG002' },
    )
  })
})
