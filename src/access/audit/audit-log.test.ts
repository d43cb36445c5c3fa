import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomUUIDv7 } from 'node:crypto'
import { createTestLog } from '../../../tests/support/log.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { valuesOf } from '../../../tests/support/json.ts'
import { createPeople } from '../../people/people.ts'
import { createAccess } from '../access.ts'
import { byService, personActor, type Visit } from '../actor.ts'
import { createAuditLog, type AuditLog } from './audit-log.ts'
import { createAudit, type AuditEntry } from './audit.ts'
import { openPortal } from '../portal/portal.ts'
import type { AuditQuery } from '../schema.ts'

interface Written {
  readonly at: number
  readonly action: string
  readonly outcome: 'allowed' | 'refused'
  readonly actor: 'person' | 'command'
  readonly person?: string
  readonly client: string | null
}

const minute = 60_000
const start = Date.parse('2026-03-02T09:00:00Z')
const people = [randomUUIDv7(), randomUUIDv7()] as const
const clients = [randomUUIDv7(), randomUUIDv7()] as const

/** 400 events, one every ten minutes. The third hour from the end has none, and some clocks were set back. */
const written: Written[] = Array.from({ length: 400 }, (_, n) => ({
  at: start + n * 10 * minute - (n % 7 === 3 ? 25 * minute : 0) + (n > 380 ? 3 * 60 * minute : 0),
  action: n === 5 ? 'role_changed' : n === 395 ? 'client_created' : n % 9 === 0 ? 'note_changed' : 'client_read',
  outcome: n === 390 || n === 17 ? 'refused' : 'allowed',
  ...(n % 11 === 4
    ? { actor: 'command' as const }
    : { actor: 'person' as const, person: n < 12 ? people[1] : people[0] }),
  client: clients[n % 3] ?? null,
}))

let visit: Visit
const { log } = createTestLog()

const { own: fresh, database } = openOwnDatabase(log)
const audit = fixture(() => createAudit({ database }))
const portal = fixture(() => openPortal({ databaseUrl: fresh.url, log }))
setUp(async () => {
  const partner = await createPeople({ database, audit }).create(
    { name: 'P', email: 'p@example.com', role: 'partner' },
    byService,
  )
  visit = { actor: personActor(partner) }
  await database.rows(
    `insert into audit (at, action, outcome, actor, actor_name, person_id, client_id)
     select to_timestamp(w.at / 1000.0), w.action, w.outcome, w.actor, case w.actor when 'command' then 'root' end,
       w.person, w.client from jsonb_to_recordset($1)
       as w(at bigint, action text, outcome text, actor text, person uuid, client uuid)`,
    [JSON.stringify(written)],
  )
})

/** Does not record its own reads, which would appear in the log it reads. */
const logWith = (reach?: { all: number; own: number }): AuditLog => {
  const access = createAccess({ portal, audit: { record: async () => undefined } })
  return createAuditLog({ access, locale: 'en-GB', timeZone: 'UTC', ...(reach && { reach }) })
}

/** Reads all pages of a filter. Returns the indexes of the matching events, newest first, and the number of pages. */
async function readAll(auditLog: AuditLog, query: AuditQuery): Promise<{ at: number[]; pages: number; most: number }> {
  const at: number[] = []
  let [pages, most] = [0, 0]
  for (let cursor: string | null | undefined = undefined; cursor !== null;) {
    const page: Awaited<ReturnType<AuditLog['page']>> = await auditLog.page(visit, {
      ...query,
      ...(cursor && { cursor }),
    })
    at.push(...page.audit.filter(({ action }) => action !== 'person_created').map((row) => Date.parse(row.at)))
    pages += 1
    most = Math.max(most, page.audit.length)
    cursor = page.next
  }
  return { at, pages, most }
}

function expected({ action, outcome, actor, person, client, from, to, views }: AuditQuery): number[] {
  return written
    .filter(
      (each) =>
        (action === undefined || each.action === action) &&
        (outcome === undefined || each.outcome === outcome) &&
        (actor === undefined || each.actor === actor) &&
        (person === undefined || each.person === person) &&
        (client === undefined || each.client === client) &&
        (from === undefined || each.at >= Date.parse(from)) &&
        (to === undefined || each.at < Date.parse(to)) &&
        (views !== 'false' || each.action !== 'client_read'),
    )
    .map(({ at }) => at)
    .toReversed()
}

const time = (hours: number) => new Date(start + hours * 60 * minute).toISOString()
const parts: AuditQuery[] = [
  {},
  { action: 'role_changed' },
  { action: 'note_changed' },
  { outcome: 'refused' },
  { actor: 'command' },
  { actor: 'person', outcome: 'refused' },
  { person: people[1] },
  { person: people[0], action: 'role_changed' },
  { client: clients[1] },
  { client: clients[0], outcome: 'refused' },
  { action: 'client_read', outcome: 'refused' },
  { client: clients[1], person: people[0], action: 'note_changed', outcome: 'allowed' },
  { views: 'true' },
  { views: 'false' },
  { views: 'false', client: clients[1] },
  { views: 'false', action: 'client_read' },
]
const spans: AuditQuery[] = [
  {},
  { from: time(20) },
  { to: time(30) },
  { from: time(20), to: time(30) },
  { from: time(64), to: time(65) },
  { to: time(-1) },
  { from: time(200) },
]

describe('the audit log, searched in parts', () => {
  for (const reach of [undefined, { all: 20, own: 7 }, { all: 1, own: 1 }]) {
    test(`returns each row once and in order, whatever the reach: ${JSON.stringify(reach ?? 'all at once')}`, async () => {
      const auditLog = logWith(reach)
      for (const part of parts) {
        for (const span of spans) {
          const query = { ...part, ...span, limit: '9' }
          const { at, most } = await readAll(auditLog, query)
          assert.deepEqual(at, expected(query), JSON.stringify(query))
          assert.ok(most <= 9)
        }
      }
    })
  }

  test('finds rows of a clock that was set back at both ends of a span', async () => {
    const auditLog = logWith({ all: 20, own: 7 })
    for (let n = 120; n < 134; n++) {
      const query = { from: time((n - 6) / 6), to: time(n / 6) }
      assert.deepEqual((await readAll(auditLog, query)).at, expected(query), JSON.stringify(query))
    }
  })

  test('reads once if nothing matches, however long the log is', async () => {
    const auditLog = logWith({ all: 20, own: 7 })
    for (const query of [{ to: time(-1) }, { from: time(200) }]) {
      assert.ok((await readAll(auditLog, query)).pages <= 2, JSON.stringify(query))
    }
    assert.ok((await readAll(auditLog, { from: time(30), to: time(31) })).pages <= 3)
    const completeInOneIndex = ['role_changed', 'client_created'].map((action) => ({ person: people[0], action }))
    for (const query of [{ action: 'nothing' }, ...completeInOneIndex]) {
      assert.equal((await readAll(auditLog, query)).pages, 1, JSON.stringify(query))
    }
    const few = await readAll(auditLog, { person: people[0], action: 'note_changed' })
    assert.ok(few.pages >= 6, 'each read is limited to its reach')
    const rarer = await readAll(auditLog, { client: clients[1], action: 'note_changed' })
    assert.ok(rarer.pages <= 7, 'the index of the rarer value reaches further')
  })

  test('is exported completely', async () => {
    const auditLog = logWith({ all: 20, own: 7 })
    for (const query of [{ action: 'note_changed' }, { client: clients[1] }, { views: 'false' as const }, {}]) {
      let text = ''
      for await (const piece of await auditLog.csv(visit, query)) text += piece
      const lines = text
        .trimEnd()
        .split('\r\n')
        .slice(1)
        .filter((line) => !line.includes('person_created'))
      assert.equal(lines.length, expected(query).length)
    }
  })
})

test('each row names its actor', async () => {
  const keyId = randomUUIDv7()
  const [personId] = people
  const actors = [
    { kind: 'person', id: personId },
    { kind: 'command', user: 'root' },
    { kind: 'key', id: keyId },
    { kind: 'service' },
    { kind: 'visitor' },
  ] as const
  for (const actor of actors) await audit.record({ action: 'probe', outcome: 'allowed', actor })
  const page = await logWith().page(visit, { action: 'probe' })
  assert.deepEqual(valuesOf(page.audit, 'actor'), [
    { kind: 'visitor', id: null, name: null },
    { kind: 'service', id: null, name: null },
    { kind: 'key', id: keyId, name: null },
    { kind: 'command', id: null, name: 'root' },
    { kind: 'person', id: personId, name: null },
  ])
})

test('each reading is recorded with its filters and its format', async () => {
  const recorded: AuditEntry[] = []
  const access = createAccess({ portal, audit: { record: async (entry) => void recorded.push(entry) } })
  const auditLog = createAuditLog({ access, locale: 'en-GB', timeZone: 'UTC' })
  await auditLog.page(visit, { action: 'note_changed', limit: '5' })
  await Array.fromAsync(await auditLog.csv(visit, { format: 'csv', outcome: 'refused' }))
  assert.deepEqual(
    recorded.map(({ action, outcome, details }) => [action, outcome, details]),
    [
      ['audit_read', 'allowed', { action: 'note_changed' }],
      ['audit_read', 'allowed', { outcome: 'refused', format: 'csv' }],
    ],
  )
})

test("exported times are in the firm's time zone, with the offset, and in the order of the events", async () => {
  const access = createAccess({ portal, audit: { record: async () => undefined } })
  const file = await createAuditLog({ access, locale: 'en-GB', timeZone: 'Asia/Kolkata' }).csv(visit, {
    action: 'note_changed',
  })
  const [, ...lines] = (await Array.fromAsync(file)).join('').trimEnd().split('\r\n')
  const times = lines.map((line) => line.split(',')[1] ?? '')
  for (const text of times) assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:30$/)
  assert.deepEqual(
    times.map((text) => Date.parse(text)),
    expected({ action: 'note_changed' }),
  )
})
