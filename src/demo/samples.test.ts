import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { byService, personActor } from '../access/actor.ts'
import { createConfigFolder, upstream } from '../../tests/support/config.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts'
import { detail } from '../../tests/support/detail.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { assertVerified } from '../../tests/support/verified.ts'
import { createAccess } from '../access/access.ts'
import { createAudit, type Audit } from '../access/audit/audit.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createKeys, type Keys } from '../accounts/keys/keys.ts'
import { verifyBooks } from '../billing/verify.ts'
import { createRecords } from '../clients/records.ts'
import { createIdentities, type Identities } from '../people/identities.ts'
import { verifyInvoices } from '../invoicing/verify.ts'
import { createPeople, type People } from '../people/people.ts'
import { openDatabase, type Database } from '../platform/database/database.ts'
import { withDemoFirm } from './demo.ts'
import { demoPeople } from './people.ts'
import { inOneTransaction } from './samples-portal.ts'
import { loadSamples, type SampleNeeds } from './samples.ts'

const config = withDemoFirm(createConfigFolder().load(upstream(), { TOLLGATE_DEMO: '1' }))
const issuer = 'http://127.0.0.1:8081'
const { log } = createTestLog()
let fresh: TestDatabase | undefined
let database: Database
/** As a superuser, who sees every record. */
let superuser: Database
let audit: Audit
let people: People
let identities: Identities
let keys: Keys
let needs: SampleNeeds

beforeEach(async () => {
  await close()
  fresh = await createTestDatabase()
  database = openDatabase(fresh.url, { log })
  superuser = openDatabase(fresh.superuserUrl, { log })
  audit = createAudit({ database })
  people = createPeople({ database, audit })
  identities = createIdentities({ database, audit })
  keys = createKeys({ database, log })
  const accounts = createAccounts({ database })
  needs = { people, identities, audit, accounts, keys, database, config, databaseUrl: fresh.url, log }
})
after(() => close())

async function close(): Promise<void> {
  if (fresh === undefined) return
  await audit.close()
  await keys.close()
  await Promise.all([database.close(), superuser.close()])
  await fresh.drop()
}

/** The number of rows in each table. */
async function counts(): Promise<Record<string, number>> {
  const tables = [
    'person',
    'client',
    'note',
    'dispute',
    'letter',
    'time_entry',
    'expense',
    'invoice',
    'invoice_payment',
    'account',
  ]
  const entries = tables.map(async (table) => {
    const [row] = await superuser.rows<{ count: bigint }>(`select count(*) from ${table}`)
    return [table, Number(row?.count)] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

const nothing = {
  person: 0,
  client: 0,
  note: 0,
  dispute: 0,
  letter: 0,
  time_entry: 0,
  expense: 0,
  invoice: 0,
  invoice_payment: 0,
  account: 0,
}
const complete = {
  person: 3,
  client: 43,
  note: 84,
  dispute: 12,
  letter: 10,
  time_entry: 3,
  expense: 1,
  invoice: 8,
  invoice_payment: 3,
  account: 2,
}

test('concurrent instances enter the samples once', async () => {
  await Promise.all([loadSamples(needs, issuer), loadSamples(needs, 'http://127.0.0.1:9091')])
  assert.deepEqual(await counts(), complete)
  await loadSamples(needs, issuer)
  assert.deepEqual(await counts(), complete)
  assertVerified([...(await verifyBooks(database)).checks, ...(await verifyInvoices(database))])
  const requests = await superuser.rows('select from ledger having count(*) > 100')
  assert.equal(requests.length, 1)
})

test('each client is entered by its own consultant or partner, with audit rows', async () => {
  await loadSamples(needs, issuer)
  const rows = await superuser.rows<{ name: string; role: string; client: bigint; entered: bigint }>(
    `select p.name, p.role, count(distinct c.id) as client, count(distinct a.client_id) as entered
     from person p join client c on c.consultant_id = p.id
       left join audit a on a.client_id = c.id and a.person_id = p.id and a.action = 'client_created'
     group by 1, 2 order by 1`,
  )
  assert.deepEqual(rows, [
    { name: 'Daniel Okonjo', role: 'consultant', client: 19n, entered: 19n },
    { name: 'Mei Sakamoto', role: 'consultant', client: 18n, entered: 18n },
    { name: 'Ruth Penhallow', role: 'partner', client: 6n, entered: 6n },
  ])
  const strangers = await superuser.rows(
    'select 1 from note n join client c on c.id = n.client_id where n.created_by <> c.consultant_id',
  )
  assert.deepEqual(strangers, [])
})

test('records, revisions and audit rows are dated as if written day by day', async () => {
  await loadSamples(needs, issuer)
  const recent = await superuser.rows(
    `select 1 from client where updated_at > now() - interval '6 hours'
     union all select 1 from note where created_at::date <> date or updated_at <> created_at
     union all select 1 from dispute where created_at > now() - interval '6 hours'
     union all select 1 from letter where created_at > now() - interval '6 hours'
     union all select 1 from revision where at > now() - interval '6 hours'
     union all select 1 from audit where client_id is not null and at > now() - interval '6 hours'
     union all select 1 from audit a join audit b on b.id > a.id and b.at < a.at where a.client_id = b.client_id`,
  )
  assert.deepEqual(recent, [])
  const ahead = await superuser.rows(
    `select 1 from client c where changed_at <> greatest(updated_at,
       (select max(updated_at) from note where client_id = c.id), (select max(updated_at) from dispute where client_id = c.id),
       (select max(updated_at) from letter where client_id = c.id), (select max(updated_at) from time_entry where client_id = c.id),
       (select max(updated_at) from expense where client_id = c.id), (select max(updated_at) from task where client_id = c.id))`,
  )
  assert.deepEqual(ahead, [])
  const apart = await superuser.rows(
    `select 1 from revision r join letter n on n.id = r.noun_id
     where not exists (select from audit a where a.noun_id = n.id and abs(extract(epoch from a.at - r.at)) < 1)`,
  )
  assert.deepEqual(apart, [])
})

detail('writes cannot be dated once a person has signed in, nor into the future', async () => {
  await loadSamples(needs, issuer)
  const enter = (at: string) =>
    inOneTransaction(needs, async (portal, setTime) => {
      setTime(new Date(at))
      const [person] = (await people.list()).filter(({ role }) => role === 'consultant')
      assert.ok(person)
      const { clients } = createRecords({ access: createAccess({ portal, audit }), currency: 'USD' })
      return clients.create({ actor: personActor(person) }, { name: 'Dated' })
    })
  assert.equal((await enter('2020-02-03T10:00:00Z')).created_at, '2020-02-03T10:00:00.000Z')
  assert.ok(Date.parse((await enter('2999-01-01T00:00:00Z')).created_at) <= Date.now())
  await database.rows('update person set last_signed_in_at = now() where role = $1', ['partner'])
  const had = await counts()
  await assert.rejects(enter('2020-02-03T10:00:00Z'), { code: '42501' })
  await assert.rejects(
    database.transaction(async (tx) => {
      await tx.rows(`select set_config('tollgate.time', '2020-02-03', true)`)
      await tx.rows(`insert into audit (action, outcome, actor) values ('x', 'allowed', 'service')`)
    }),
    { code: '42501' },
  )
  assert.deepEqual(await counts(), had)
})

test('an interrupted call leaves no partial client, and the next call completes the samples', async () => {
  let calls = 0
  const failing = {
    ...people,
    create(...person: Parameters<People['create']>) {
      calls += 1
      if (calls === 3) throw new Error('pulled out')
      return people.create(...person)
    },
  }
  await assert.rejects(loadSamples({ ...needs, people: failing }, issuer), /pulled out/)
  assert.deepEqual(await counts(), { ...nothing, person: 2 })
  await loadSamples(needs, issuer)
  assert.deepEqual(await counts(), complete)
})

detail('a person who signs in meanwhile does not end the start, and finds no samples', async () => {
  let calls = 0
  const early = {
    ...people,
    async create(...person: Parameters<People['create']>) {
      const made = await people.create(...person)
      calls += 1
      if (calls === 3) await database.rows('update person set last_signed_in_at = now() where id = $1', [made.id])
      return made
    },
  }
  await loadSamples({ ...needs, people: early }, issuer)
  assert.deepEqual(await counts(), { ...nothing, person: 3, account: 2 })
})

test('nothing is entered if there are other people', async () => {
  await people.create({ name: 'Somebody', email: 'somebody@example.com', role: 'partner' }, byService)
  await loadSamples(needs, issuer)
  assert.deepEqual(await counts(), { ...nothing, person: 1 })
})

test('nothing is entered again once a person has signed in, whatever was deleted', async () => {
  for (const { name, email, role } of demoPeople) await people.create({ name, email, role }, byService)
  await database.rows('update person set last_signed_in_at = now() where role = $1', ['partner'])
  await loadSamples(needs, issuer)
  assert.deepEqual(await counts(), { ...nothing, person: 3 })
})

detail('the people are linked to their subjects at each provider of the demo', async () => {
  const issuers = [issuer, 'http://127.0.0.1:9091']
  for (const each of issuers) await loadSamples(needs, each)
  for (const each of issuers) {
    for (const { subject, email } of demoPeople) {
      assert.equal((await identities.byIdentity({ issuer: each, subject }))?.email, email)
    }
  }
  assert.equal(await identities.byIdentity({ issuer: 'http://127.0.0.1:7', subject: 'ruth' }), undefined)
})
