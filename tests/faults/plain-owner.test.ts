import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { Client } from 'pg'
import { portalAddress, surveyPortalLogin } from '../../src/access/portal/login.ts'
import { migrate } from '../../src/platform/database/migrations.ts'
import { openEmbedded, type EmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { startCluster } from '../support/cluster.ts'
import { tollgateHere } from '../support/command-line.ts'
import { detail } from '../support/detail.ts'
import { isEndure } from '../support/draws.ts'
import { startFirm } from '../support/firm.ts'
import { parseObject } from '../support/json.ts'
import { createTestLog } from '../support/log.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { until } from '../support/until.ts'

// The owner of a database is not a superuser, neither on the firm's own server nor in the embedded database: row-level
// security applies to the owner too.

let embedded: EmbeddedPostgres | undefined

const cluster = fixture(() => startCluster({ asksForPasswords: true }))
const admin = fixture(() => new Client(cluster.superuserUrl))
setUp(() => admin.connect())
after(async () => {
  await embedded?.close()
  await admin.end()
  await cluster.stop()
})

/** Creates a database with its own owner. Returns its address. */
async function ownedBy(name: string, attributes: string): Promise<string> {
  await admin.query(`create role ${name} login ${attributes} password '${name}-password'`)
  await admin.query(`create database ${name} owner ${name}`)
  return addressOf(name)
}

function addressOf(name: string): string {
  const url = new URL(cluster.superuserUrl)
  url.username = name
  url.password = `${name}-password`
  url.pathname = `/${name}`
  return url.href
}

const servers: readonly { title: string; open: () => Promise<string> }[] = [
  { title: 'an owner who may create roles', open: () => ownedBy('firm', 'createrole') },
  { title: 'the owner of the embedded database', open: openEmbeddedOnce },
]

/** The embedded database, as `npm start` uses it; closed with the cluster. */
async function openEmbeddedOnce(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tollgate-owner-'))
  await chmod(directory, 0o711)
  embedded = await openEmbedded({ directory, ...createTestLog(), settings: { fsync: 'off' } })
  return embedded.url
}

for (const { title, open } of isEndure ? servers : servers.slice(0, 1)) {
  describe(title, () => {
    let databaseUrl: string
    setUp(async () => {
      databaseUrl = await open()
    })

    test('B91: is neither a superuser nor exempt from row-level security', async () => {
      await using owner = await connected(databaseUrl)
      const { rows } = await owner.query(
        `select rolsuper, rolbypassrls, rolcreatedb, rolreplication, rolcreaterole from pg_roles where rolname = current_user`,
      )
      const nothing = { rolsuper: false, rolbypassrls: false, rolcreatedb: false, rolreplication: false }
      assert.deepEqual(rows, [{ ...nothing, rolcreaterole: true }])
      const ofUs = await owner.query(
        `select 1 from pg_roles where rolname like 'tollgate%' and (rolsuper or rolbypassrls)`,
      )
      assert.deepEqual(ofUs.rows, [])
    })

    test('can run the whole portal: records, revisions, audit log, commands, and a chain that verify accepts', async () => {
      const firm = await startFirm({ databaseUrl })
      const [anna, paula] = [await firm.join('Anna', 'consultant'), await firm.join('Paula', 'partner')]
      const client = await firm.client(anna, 'Berg')
      const note = await anna.send('POST', `/clients/${client}/notes`, { date: '2026-03-12', text: 'first' })
      const address = `/clients/${client}/notes/${String(note.json['id'])}`
      assert.equal((await anna.send('PATCH', address, { text: 'second' }, { 'if-match': '"1"' })).status, 200)
      assert.equal((await anna.get(`${address}/revisions`)).status, 200)
      assert.equal(
        (await paula.send('PATCH', `/clients/${client}`, { consultant_id: paula.id }, { 'if-match': '*' })).status,
        200,
      )
      assert.equal((await anna.get(`/clients/${client}`)).status, 403)
      assert.equal((await paula.get('/search?q=second')).status, 200)
      assert.equal((await paula.get('/audit')).status, 200)
      assert.equal((await paula.get('/people')).status, 200)
      await firm.close()

      const environment = { DATABASE_URL: databaseUrl, TOLLGATE_DATA: '/nowhere' }
      const listed = await tollgateHere(['client', 'list', '--json'], environment)
      assert.match(listed.stdout, /"name":"Berg"/, listed.stderr)
      const verdict = await tollgateHere(['verify', '--json'], environment)
      assert.equal(parseObject(verdict.stdout)['ok'], true, verdict.stdout)
    })

    test('sees no record without a context, and cannot change the audit log', async () => {
      const owner = new Client(databaseUrl)
      await owner.connect()
      for (const table of ['client', 'note', 'dispute', 'letter', 'revision']) {
        assert.deepEqual((await owner.query(`select * from ${table}`)).rows, [], table)
      }
      for (const table of ['audit', 'seal', 'revision']) {
        await assert.rejects(owner.query(`delete from ${table}`), { code: '42501' })
      }
      assert.ok((await owner.query('select * from audit')).rows.length > 5)
      await owner.end()
    })
  })
}

detail('the portal gets access to a database on which PUBLIC has none', async () => {
  const databaseUrl = await ownedBy('closed', 'createrole')
  await admin.query('revoke all on database closed from public')
  await using inside = await connected(Object.assign(new URL(cluster.superuserUrl), { pathname: '/closed' }).href)
  await inside.query('revoke all on schema public from public')
  await migrate(databaseUrl)
  assert.match(await surveyPortalLogin(databaseUrl), /^the next start lets tollgate_portal_/)
  const firm = await startFirm({ databaseUrl })
  const anna = await firm.join('Anna', 'consultant')
  assert.equal((await anna.get(`/clients/${await firm.client(anna)}`)).status, 200)
  await firm.close()
  const { username } = new URL(await portalAddress(databaseUrl))
  await admin.query(`revoke connect on database closed from ${username}`)
  assert.equal(await surveyPortalLogin(databaseUrl), `the next start lets ${username} log in to the database`)
  await portalAddress(databaseUrl)
  assert.equal(await surveyPortalLogin(databaseUrl), `${username} can log in to the database`)
})

detail('an owner who may not grant access to the database learns which statements to run as whom', async () => {
  await admin.query(`create role tenant login createrole password 'tenant-password'`)
  await admin.query('create database tenant')
  await admin.query('revoke all on database tenant from public')
  await admin.query('grant connect, temporary on database tenant to tenant')
  await using inside = await connected(Object.assign(new URL(cluster.superuserUrl), { pathname: '/tenant' }).href)
  await inside.query('grant create on schema public to tenant')
  const databaseUrl = addressOf('tenant')
  const lacking = await startFirm({ databaseUrl }).catch((error: Error) => error)
  assert.ok(lacking instanceof Error)
  assert.match(
    lacking.message,
    /needs the extension pg_trgm.+have an administrator run "create extension pg_trgm" in this/,
  )
  await inside.query('create extension pg_trgm')
  for (const round of [1, 2]) {
    const refusal = await startFirm({ databaseUrl }).catch((error: Error) => error)
    assert.ok(refusal instanceof Error, String(round))
    assert.match(
      refusal.message,
      /^The user tollgate_portal_[0-9a-f]{8} may not use the database "tenant" at 127\.0\.0\.1:\d+\. Have an administrator/,
    )
    assert.ok(!refusal.message.includes('\n'))
  }
  const refusal = await portalAddress(databaseUrl).catch((error: Error) => error)
  assert.ok(refusal instanceof Error)
  await assert.rejects(surveyPortalLogin(databaseUrl), { name: 'OperatorError', message: refusal.message })
  const [, statements = ''] = /start again: (.+)$/.exec(refusal.message) ?? []
  await inside.query(statements)
  await using firm = await startFirm({ databaseUrl })
  const anna = await firm.join('Anna', 'consultant')
  assert.equal((await anna.get(`/clients/${await firm.client(anna)}`)).status, 200)
})

detail('a server that does not admit the portal’s user is named as the cause', async () => {
  const databaseUrl = await ownedBy('closed_to_portal', 'createrole')
  await migrate(databaseUrl)
  await using inside = await connected(databaseUrl)
  const [{ username } = assert.fail()] = (
    await inside.query<{ username: string }>(`select portal_role('portal') as username`)
  ).rows
  const { rows } = await admin.query<{ file: string; text: string }>(
    `select current_setting('hba_file') as file, pg_read_file(current_setting('hba_file')) as text`,
  )
  const [{ file, text } = assert.fail()] = rows
  const configure = async (lines: string) => {
    await admin.query(`copy (select unnest(string_to_array($$${lines}$$, chr(10)))) to '${file}'`)
    await admin.query('select pg_reload_conf()')
  }
  await configure(`host all ${username} all reject\nlocal all ${username} reject\n${text}`)
  const refusal = new RegExp(
    `^The user ${username} cannot log in to the database "closed_to_portal" at 127\\.0\\.0\\.1:\\d+, .*: allow it in pg_hba\\.conf\\.$`,
  )
  const isRefused = async () => {
    for (const use of [portalAddress, surveyPortalLogin]) {
      await assert.rejects(use(databaseUrl), { name: 'OperatorError', message: refusal })
    }
  }
  // The server reads its configuration again a moment later.
  await until(async () => (await surveyPortalLogin(databaseUrl).catch((error: Error) => error)) instanceof Error)
  await isRefused()
  await configure(text)
  await until(async () => (await portalAddress(databaseUrl).catch(() => '')) !== '')
  await admin.query(`revoke ${username} from closed_to_portal`)
  await admin.query(`alter role ${username} password null`)
  await configure(`host all ${username} all reject\n${text}`)
  await until(async () => /pg_hba/.test(String(await portalAddress(databaseUrl).catch((error: Error) => error))))
  // Without the right to set its password, too.
  await isRefused()
  await admin.query(`grant ${username} to closed_to_portal with admin option`)
  await configure(text)
  await until(async () => (await portalAddress(databaseUrl).catch(() => '')) !== '')
  await until(async () => (await surveyPortalLogin(databaseUrl).catch(() => '')).endsWith('can log in to the database'))
})

detail('an owner may use roles that an administrator created for a restore, as the documentation says', async () => {
  const databaseUrl = await ownedBy('restored', 'createrole')
  await migrate(databaseUrl)
  await using inside = await connected(Object.assign(new URL(cluster.superuserUrl), { pathname: '/restored' }).href)
  const { rows } = await inside.query<{ name: string }>(`select portal_role('portal') as name`)
  const [portal = ''] = rows.map(({ name }) => name)
  // As if a superuser had created it.
  await admin.query(`revoke ${portal} from restored`)
  const refusal = /^The user "restored" may not set the password of tollgate_portal_/
  await assert.rejects(portalAddress(databaseUrl), { message: refusal })
  await assert.rejects(surveyPortalLogin(databaseUrl), { message: refusal })

  const page = await readFile(path.join(import.meta.dirname, '../../docs/operating.md'), 'utf8')
  const [grant = ''] = /^grant tollgate_portal_8c1f03ab to tollgate .+;$/m.exec(page) ?? []
  await admin.query(grant.replace('tollgate_portal_8c1f03ab', portal).replace('to tollgate', 'to restored'))
  assert.equal(await surveyPortalLogin(databaseUrl), `the next start lets ${portal} log in to the database`)
  await using login = await connected(await portalAddress(databaseUrl))
  assert.deepEqual((await login.query('select current_user as name')).rows, [{ name: portal }])
  assert.equal(await surveyPortalLogin(databaseUrl), `${portal} can log in to the database`)
})

describe('two Tollgates on one server', () => {
  test('are separate: neither can use the other’s login or read its records', async () => {
    const [firm, branch] = [addressOf('firm'), await ownedBy('branch', 'createrole')]
    const address = await portalAddress(firm)
    await using other = await startFirm({ databaseUrl: branch })
    const ben = await other.join('Ben', 'consultant')
    await other.client(ben, 'Theirs')
    assert.equal(await portalAddress(firm), address)
    await using login = await connected(address)
    assert.equal((await login.query('select current_user as name')).rows.length, 1)

    const [mine, theirs] = [new URL(address), new URL(await portalAddress(branch))]
    assert.notEqual(mine.username, theirs.username)
    mine.pathname = '/branch'
    await using intruder = await connected(mine.href)
    await intruder.query(`set role ${mine.username.replace('portal', 'partner')}`)
    await assert.rejects(intruder.query('select * from client'), { code: '42501' })
    await intruder.query('reset role')
    for (const role of ['partner', 'consultant', 'portal']) {
      const foreign = theirs.username.replace('portal', role)
      await assert.rejects(intruder.query(`set role ${foreign}`), { code: '42501' })
    }
    assert.equal((await ben.get('/clients')).json['total'], 1)
  })

  detail('that are copies of one database do not lock each other out: the second start fails with advice', async () => {
    const address = await portalAddress(addressOf('firm'))
    await admin.query(`create role copied login createrole password 'copied-password'`)
    await admin.query('create database copied template firm owner copied')
    for (const use of [portalAddress, surveyPortalLogin]) {
      await assert.rejects(use(addressOf('copied')), (error: Error) => {
        assert.match(
          error.message,
          /"firm" on the same server are copies.*different passwords.*the statement that \.\/tollgate doctor --portal-sql prints\.$/,
        )
        return error.name === 'OperatorError' && !/\n|SCRAM/.test(error.message)
      })
    }
    await using login = await connected(address)
    assert.equal((await login.query('select 1')).rows.length, 1)
    await admin.query('drop database copied')
  })
})

async function connected(address: string) {
  const client = new Client(address)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

describe('an owner who may not create roles', () => {
  test('learns what an administrator has to run, and can start after that', async () => {
    const databaseUrl = await ownedBy('plain', '')
    const refusal = await migrate(databaseUrl).catch((error: Error) => error)
    assert.ok(refusal instanceof Error)
    assert.ok(!refusal.message.includes('\n'))
    const [, statements = ''] = /run "([^"]+)"/.exec(refusal.message) ?? []
    assert.match(statements, /create role tollgate_consultant_[0-9a-f]{8};/)
    const early = await tollgateHere(['doctor', '--portal-sql'], {
      DATABASE_URL: databaseUrl,
      TOLLGATE_DATA: '/nowhere',
    })
    assert.deepEqual([early.status, early.stdout], [1, ''])
    assert.match(early.stderr, /^The database \w+ .*\.\/tollgate migrate/)
    await admin.query(statements)
    const second = await startFirm({ databaseUrl }).catch((error: Error) => error)
    assert.ok(second instanceof Error)
    const remedy =
      /Have an administrator run the statement that \.\/tollgate doctor --portal-sql prints, then start again\.$/
    assert.match(second.message, remedy)
    const environment = { DATABASE_URL: databaseUrl, TOLLGATE_DATA: '/nowhere' }
    const doctor = await tollgateHere(['doctor'], environment)
    assert.match(doctor.stdout, /WRONG {2}portal +The user "plain" may not set the password of .* doctor --portal-sql/)
    assert.doesNotMatch(
      `${second.message}${doctor.stdout}${doctor.stderr}`,
      /SCRAM/,
      'the verifier does not belong in logs',
    )

    const printed = await tollgateHere(['doctor', '--portal-sql'], environment)
    assert.deepEqual([printed.status, printed.stderr], [0, ''])
    assert.match(printed.stdout, /^alter role tollgate_portal_[0-9a-f]{8} login noinherit password 'SCRAM-[^']+';\n$/)
    const asJson = await tollgateHere(['doctor', '--portal-sql', '--json'], environment)
    assert.match(String(parseObject(asJson.stdout)['sql']), /^alter role /)
    await admin.query(printed.stdout)
    await using firm = await startFirm({ databaseUrl })
    const anna = await firm.join('Anna', 'consultant')
    assert.equal((await anna.get(`/clients/${await firm.client(anna)}`)).status, 200)
  })
})
