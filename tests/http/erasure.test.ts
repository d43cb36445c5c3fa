import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { personActor } from '../../src/access/actor.ts'
import { applyRetention, eraseClient } from '../../src/client-data/store.ts'
import { verifyAll } from '../../src/commands/verification.ts'
import { openDatabase } from '../../src/platform/database/database.ts'
import type { Answer } from '../support/answer.ts'
import { batchLine, createBatch, uuidOf } from '../support/batches.ts'
import { isEndure } from '../support/draws.ts'
import { dumpTables, fillClient, makeDue, marker, markedStatistics, markedTables } from '../support/erasable.ts'
import { startFirm } from '../support/firm.ts'
import { at, objectAt, parseObject } from '../support/json.ts'
import { startMailServer } from '../support/mail-server.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { routesOf } from '../support/routes.ts'
import { upstreamModel } from '../support/service.ts'
import { asSuperuser } from '../support/superuser.ts'
import { announced, sealAll } from '../support/tamper.ts'
import { log } from '../support/tills.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

const month = '30 days'

let key: string
const vendor = fixture(() => startVendor())
const mail = fixture(() => startMailServer())
const firm = fixture(() =>
  startFirm({
    models: [upstreamModel(vendor.url)],
    drafting: { account: 'Portal', model: 'fast' },
    mail: mail.url,
    retention: { erasure_after: '30d' },
    firm: { name: 'Firm' },
  }),
)
setUp(async () => {
  ;({ key } = await firm.service.customer({ name: 'Portal', own: true }))
})
const anna = fixture(() => firm.join('Anna', 'consultant'))
const ben = fixture(() => firm.join('Ben', 'consultant'))
const paula = fixture(() => firm.join('Paula', 'partner'))

const database = () => firm.service.database
const schedule = (client: string, reason = 'The engagement ended.') =>
  paula.send('POST', `/clients/${client}/erasure`, { reason })
const withdraw = (client: string) => paula.send('DELETE', `/clients/${client}/erasure`)
const erase = (client: string) => eraseClient(database(), client, month)
const faults = async () => (await verifyAll(database(), { full: true })).filter(({ ok }) => !ok)
/** What the books know of a client. */
const books = (client: string) =>
  database().rows(
    `select 'ledger' as source, count(*), sum(cost) as cost, sum(input_tokens) as input from ledger where client_id = $1
     union all select 'usage', sum(requests), sum(cost), sum(input_tokens) from usage_day where client_id = $1`,
    [client],
  )
const actionsOn = (client: string) =>
  database()
    .rows<{ action: string }>(`select action from audit where client_id = $1 and action like '%eras%' order by id`, [
      client,
    ])
    .then((rows) => rows.map(({ action }) => action))

/** A filled client whose erasure is due. */
async function dueClient(): Promise<string> {
  const client = await fillClient(anna)
  const { status, text } = await schedule(client)
  assert.equal(status, 201, text)
  await makeDue(database(), client)
  return client
}

/** Waits until the service, which looks for due erasures by itself, has erased the client. */
async function finish(client: string): Promise<void> {
  await until(async () => (await database().rows('select from erasure where client_id = $1', [client])).length === 0)
}

describe('an erasure', () => {
  test('is preceded by what it would end', async () => {
    const client = await firm.client(anna)
    const add = (plural: string, body: object) => anna.send('POST', `/clients/${client}/${plural}`, body)
    for (const status of ['draft', 'approved', 'sent']) await add('letters', { subject: 'Offer', body: 'Dear', status })
    for (const status of ['open', 'open', 'open', 'settled'])
      await add('disputes', { invoice: 'R-1', amount: '1', position: 'none', status })
    for (const billable of [true, true, true, true, false])
      await add('time_entries', { date: '2026-03-12', minutes: 20, rate: '100', text: 'Advice', billable })
    const { json } = await paula.get(`/clients/${client}/erasure`)
    assert.deepEqual(json['effects'], [
      '4 entries and months of work are unbilled and could no longer be billed.',
      '3 disputes are open.',
      '2 letters are not sent.',
    ])
  })

  test('is scheduled with a reason, shown on the record and listed, and withdrawn', async () => {
    const client = await fillClient(anna)
    const { status, json } = await schedule(client)
    assert.equal(status, 201)
    const days = (Date.parse(String(json['due_at'])) - Date.parse(String(json['scheduled_at']))) / 86_400_000
    assert.equal(Math.round(days), 30)
    const shown = {
      reason: 'The engagement ended.',
      scheduled_by: { id: paula.id, name: 'Paula' },
      due_at: json['due_at'],
    }
    for (const reader of [anna, paula]) {
      const record = (await reader.get(`/clients/${client}`)).json
      assert.deepEqual(record['erasure'], { ...shown, scheduled_at: json['scheduled_at'] })
    }
    const listed = (await paula.get('/erasures')).json
    assert.deepEqual([listed['total'], at(listed, 'erasures', 0, 'client', 'id')], [1, client])
    assert.equal((await schedule(client)).status, 409)
    assert.equal(await erase(client), 'not_due')
    assert.equal((await withdraw(client)).status, 204)
    assert.equal((await withdraw(client)).status, 404)
    assert.equal((await anna.get(`/clients/${client}`)).json['erasure'], null)
    assert.deepEqual(await actionsOn(client), [
      'client_erasure_scheduled',
      'client_erasure_scheduled',
      'client_erasure_withdrawn',
    ])
    await makeDue(database(), client)
    assert.equal(await erase(client), 'not_due')
    assert.equal((await anna.get(`/clients/${client}`)).status, 200)
  })

  test('is refused for a reason that names the client, or none', async () => {
    const client = await fillClient(anna)
    const reference = String((await anna.get(`/clients/${client}`)).json['reference'])
    for (const reason of [
      `Berta ${marker} asked for it`,
      `see ${reference.toLowerCase()}!`,
      ` ${marker}@EXAMPLE.com `,
      ' ',
      'x'.repeat(501),
    ]) {
      const answer = await schedule(client, reason)
      assert.deepEqual([answer.status, answer.error['field']], [400, 'reason'], answer.text)
    }
    assert.equal((await anna.get(`/clients/${client}`)).json['erasure'], null)
  })

  test('is for partners', async () => {
    const client = await fillClient(anna)
    for (const person of [anna, ben]) {
      assert.equal((await person.send('POST', `/clients/${client}/erasure`, { reason: 'Ended.' })).status, 403)
      assert.equal((await person.send('DELETE', `/clients/${client}/erasure`)).status, 403)
      assert.equal((await person.get('/erasures')).status, 403)
    }
    assert.equal((await anna.get(`/clients/${client}`)).json['erasure'], null)
  })

  test('B99: leaves no name and no text in any table and at any address, and every charge', async () => {
    const client = await fillClient(anna)
    const asked = { model: 'fast', input: 'Hello', max_output_tokens: 100, metadata: { client_id: client } }
    const answer = await firm.service.call('/v1/generate', key, asked, { 'idempotency-key': 'attributed' })
    assert.equal(answer.status, 200, answer.text)
    await sealAll(database())
    // These are not sealed yet, or only now.
    const note = await anna.send('POST', `/clients/${client}/notes`, { date: '2026-03-13', text: `third ${marker}` })
    const address = `/clients/${client}/notes/${String(note.json['id'])}`
    await anna.send('PATCH', address, { text: `fourth ${marker}` }, { 'if-match': '*' })
    const replies = () =>
      database().rows(
        'select key from idempotency where hold_id in (select request_id from ledger where client_id = $1)',
        [client],
      )
    assert.equal((await replies()).length, 2)
    const charged = await books(client)
    assert.deepEqual(await faults(), [])
    assert.equal((await schedule(client)).status, 201)
    assert.deepEqual(await faults(), [])
    const marked = await markedTables(database())
    for (const table of [
      'client',
      'note',
      'dispute',
      'letter',
      'letter_mail',
      'letter_file',
      'letter_review',
      'document',
      'task',
      'contact',
      'document_text',
      'time_entry',
      'expense',
      'draft',
      'revision',
    ])
      assert.ok(marked.includes(table), table)
    await keepOnly(client)
    await makeDue(database(), client)
    // The service does it by itself.
    await finish(client)
    await sealAll(database())
    assert.deepEqual(await markedTables(database()), [])
    assert.deepEqual(await replies(), [])
    assert.deepEqual(await books(client), charged)
    assert.deepEqual(await faults(), [])
    assert.deepEqual(await actionsOn(client), ['client_erasure_scheduled', 'client_erased'])
    await assertNowhere(client, note.json['id'])
    const performed = objectAt((await paula.get('/erasures?status=performed')).json, 'erasures', 0)
    assert.deepEqual(
      [at(performed, 'client'), performed['reason'], at(performed, 'scheduled_by', 'name'), performed['due_at']],
      [{ id: client, name: 'Erased client', reference: null }, 'The engagement ended.', 'Paula', null],
    )
    assert.ok(Date.parse(String(performed['performed_at'])) > 0)
  })

  test('B99: leaves no name and no text in the statistics of the planner', async () => {
    // PostgreSQL never updates the statistics of an empty table.
    const other = `/clients/${await firm.client(ben, 'Other')}`
    for (const [list, item] of [
      ['notes', { date: '2026-03-12', text: 'Lunch' }],
      ['disputes', { invoice: 'I-1', amount: '12.50' }],
      ['letters', { subject: 'Offer', body: 'Dear Ben' }],
      ['tasks', { title: 'Lunch' }],
      ['contacts', { name: 'Lunch' }],
    ] as const)
      assert.equal((await ben.send('POST', `${other}/${list}`, item)).status, 201)
    const digest = createHash('sha256').update('Lunch').digest('hex')
    await ben.send('POST', `${other}/uploads`, Buffer.from('Lunch'))
    const document = await ben.send('POST', `${other}/documents`, { name: 'Lunch', digest })
    assert.equal(document.status, 201)
    const address = `${other}/documents/${String(document.json['id'])}`
    await until(async () => (await ben.get(address)).json['reading'] === 'read')
    const client = await fillClient(anna)
    await keepOnly(client)
    await asSuperuser(database(), (tx) => tx.rows('analyze'))
    const marked = await markedStatistics(database())
    for (const column of ['client.name', 'letter.body', 'revision.data'])
      assert.ok(marked.includes(column), `${column} is not in ${marked.join(', ')}`)
    assert.equal((await schedule(client)).status, 201)
    await makeDue(database(), client)
    await finish(client)
    assert.deepEqual(await markedStatistics(database()), [])
  })

  test('takes the lines of batches that name the client, from their files, too', async () => {
    const client = await fillClient(anna)
    const lines = [batchLine('of-client', { metadata: { client_id: client } }), batchLine('other')]
    const { service } = firm
    const ended = async (id: string) => {
      let { json } = await service.call(`/v1/batches/${id}`, key)
      await until(async () => {
        ;({ json } = await service.call(`/v1/batches/${id}`, key))
        return json['status'] === 'completed'
      })
      return json
    }
    const [done, waiting] = [await createBatch(service, key, lines), await createBatch(service, key, lines)]
    await Promise.all([done, waiting].map(({ id }) => ended(id)))
    const waitingId = uuidOf(waiting.id)
    // As it was while its first line was running.
    const requests = () =>
      database().rows('select request_id from batch_line where batch_id = $1 and number = 1', [waitingId])
    const running = await requests()
    await database().rows(
      `update batch_line l set state = 'running', claimed_at = clock_timestamp(), result = null, content = f.content from batch b, batch_file_line f
       where b.id = $1 and l.batch_id = b.id and l.number = 1 and f.file_id = b.file_id and f.number = 1`,
      [waitingId],
    )
    await database().rows(
      `update batch set status = 'in_progress', ended_at = null, output_id = null, succeeded = 1, next_at = 'infinity' where id = $1`,
      [waitingId],
    )
    const arriving = await createBatch(service, key, lines)
    await ended(arriving.id)
    const arrivingId = uuidOf(arriving.id)
    // As it was while its lines arrived.
    await database().rows(
      `update batch_line l set state = 'queued', request_id = null, result = null, content = f.content from batch b, batch_file_line f
       where b.id = $1 and l.batch_id = b.id and f.file_id = b.file_id and f.number = l.number`,
      [arrivingId],
    )
    await database().rows(
      `update batch set status = 'arriving', ended_at = null, output_id = null, results_until = null, succeeded = 0, lines = 0 where id = $1`,
      [arrivingId],
    )
    assert.equal((await schedule(client)).status, 201)
    await makeDue(database(), client)
    await finish(client)
    await database().rows('delete from batch_line where batch_id = $1', [arrivingId])
    await database().rows('delete from batch where id = $1', [arrivingId])
    const texts = () =>
      database().rows(
        `select l.number, state from batch_line l where client_id = $1 and num_nonnulls(content, result) > 0
         union all select number, 'of a file' from batch_file_line where client_id = $1`,
        [client],
      )
    assert.deepEqual(await texts(), [])
    assert.deepEqual(await faults(), [])
    const after = await ended(waiting.id)
    assert.deepEqual([at(after, 'request_counts', 'completed'), at(after, 'request_counts', 'failed')], [1, 1])
    // If its request is charged after the erasure, the line names it, as verifyBatches() expects.
    assert.deepEqual(await requests(), running)
    for (const { id } of [done, waiting]) {
      const { output_file_id: output, input_file_id: input } = await ended(id)
      for (const file of [output, input]) {
        const { status, text } = await service.call(`/v1/files/${String(file)}/content`, key)
        assert.equal(status, 200, text)
        assert.deepEqual(
          text
            .trimEnd()
            .split('\n')
            .map((line) => at(parseObject(line), 'custom_id')),
          ['other'],
        )
      }
    }
    await database().rows(`update batch_line set result = '' where client_id = $1 and state = 'succeeded'`, [client])
    assert.deepEqual(
      (await faults()).map(({ name }) => name),
      ['of an erased client only its id is left'],
    )
    await database().rows(`update batch_line set result = null where client_id = $1`, [client])
  })

  test('is final: the record cannot be read, restored, changed or added to', async () => {
    const client = await dueClient()
    await finish(client)
    const path = `/clients/${client}`
    const answers = await Promise.all([
      paula.get(path),
      paula.send('POST', `${path}/restore`),
      paula.send('PATCH', path, { name: 'Back' }, { 'if-match': '*' }),
      paula.send('POST', `${path}/notes`, { date: '2026-03-12', text: 'Back' }),
      paula.send('POST', `${path}/drafts`, { instructions: 'Back', notes: [client] }),
      paula.get(`${path}/export`),
      schedule(client),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status),
      answers.map(() => 404),
    )
    const deleted = await paula.get('/clients?status=deleted&limit=200')
    assert.ok(!deleted.text.includes(client))
    const visit = { kind: 'person', id: paula.id, role: 'partner' } as const
    await assert.rejects(
      firm.service.records.access.as({ actor: visit }, [
        { name: 'forged', text: `update client set deleted_at = null where id = $1`, values: [client] },
      ]),
      { code: 'TG003' },
    )
    assert.deepEqual(await faults(), [])
  })

  test('works for a deleted client', async () => {
    const client = await fillClient(anna)
    assert.equal((await paula.send('DELETE', `/clients/${client}`)).status, 204)
    assert.equal((await schedule(client)).status, 201)
    await makeDue(database(), client)
    await finish(client)
    assert.deepEqual(await actionsOn(client), ['client_erasure_scheduled', 'client_erased'])
    assert.deepEqual(await faults(), [])
  })

  test('waits for the configured time even if its row says less, and for the time that it was given', async () => {
    const client = await fillClient(anna)
    assert.equal((await schedule(client)).status, 201)
    await asSuperuser(database(), (tx) =>
      tx.rows(announced('update erasure set due_at = now() where client_id = $1'), [client]),
    )
    assert.equal(await erase(client), 'not_due')
    assert.equal(await eraseClient(database(), client, '0 days'), 'erased')
    const other = await fillClient(anna)
    assert.equal((await schedule(other)).status, 201)
    assert.equal(await eraseClient(database(), other, '0 days'), 'not_due')
  })
})

describe('several instances', () => {
  test('erase a client once', async () => {
    const client = await dueClient()
    const instances = [1, 2, 3, 4].map(() => openDatabase(firm.service.databaseUrl, { log, connections: 2 }))
    const outcomes = await Promise.all(instances.map((instance) => eraseClient(instance, client, month)))
    await Promise.all(instances.map((instance) => instance.close()))
    assert.ok(outcomes.filter((outcome) => outcome === 'erased').length <= 1)
    await finish(client)
    assert.deepEqual(
      (await actionsOn(client)).filter((action) => action === 'client_erased'),
      ['client_erased'],
    )
    assert.deepEqual(await faults(), [])
  })

  test('and a withdrawal at the last moment: the client is erased or whole, never half', async () => {
    for (let round = 0; round < (isEndure ? 6 : 2); round++) {
      const client = await dueClient()
      const [answer] = await Promise.all([withdraw(client), erase(client)])
      const record = await paula.get(`/clients/${client}`)
      assert.deepEqual([answer.status, record.status], answer.status === 204 ? [204, 200] : [404, 404])
      if (answer.status === 204) assert.equal(at(record.json, 'notes', 0, 'text'), `second ${marker}`)
    }
    assert.deepEqual(await faults(), [])
  })

  test('complete an erasure whose connection is lost in the middle', async () => {
    const client = await fillClient(anna)
    assert.equal((await schedule(client)).status, 201)
    const blocker = await database().connect()
    await blocker.rows('begin')
    // Almost everything is done when notes are removed.
    await blocker.rows('lock table note in share mode')
    await makeDue(database(), client)
    const waiting = () =>
      database().rows<{ pid: number }>(
        `select a.pid from pg_locks l join pg_stat_activity a on a.pid = l.pid
         where not l.granted and l.relation = 'note'::regclass and a.query like '%erase_client%'`,
      )
    await until(async () => (await waiting()).length > 0)
    const [erasing] = await waiting()
    await asSuperuser(database(), (tx) => tx.rows('select pg_terminate_backend($1)', [erasing?.pid]))
    await blocker.rows('rollback')
    await blocker.close()
    await finish(client)
    assert.equal((await paula.get(`/clients/${client}`)).status, 404)
    assert.deepEqual(await actionsOn(client), ['client_erasure_scheduled', 'client_erased'])
    assert.deepEqual(await faults(), [])
  })
})

test('a draft in flight is stopped, charged, and gone with the rest', async () => {
  const client = await fillClient(anna)
  const notes = (await anna.get(`/clients/${client}/notes`)).json['notes']
  vendor.set({ tokens: 2000, tokensPerSecond: 50 })
  const drafting = anna.send('POST', `/clients/${client}/drafts`, {
    instructions: `Go on about ${marker}.`,
    notes: [String(at(notes, 0, 'id'))],
  })
  const holds = () => database().rows('select from hold where client_id = $1', [client])
  await until(async () => (await holds()).length > 0)
  assert.equal((await schedule(client)).status, 201)
  await makeDue(database(), client)
  assert.equal(await erase(client), 'busy')
  assert.equal((await paula.get(`/clients/${client}`)).status, 200)
  await drafting
  vendor.set({})
  await finish(client)
  const [ledger] = await database().rows<{ rows: bigint }>('select count(*) as rows from ledger where client_id = $1', [
    client,
  ])
  assert.equal(ledger?.rows, 2n)
  const marked = [...(await dumpTables(database()))].filter(([, text]) => text.includes('Go on about'))
  assert.deepEqual(
    marked.map(([name]) => name),
    [],
  )
  assert.deepEqual(await faults(), [])
})

test('of the invoices, only those that were issued keep names and texts', async () => {
  const client = await fillClient(anna)
  const lines = [{ text: `Advice for ${marker}`, quantity: '1', unit: 'hour', unit_price: '100' }]
  const invoice = async () => {
    const { json, status, text } = await paula.send('POST', '/invoices', { client, lines, note: `For ${marker}` })
    assert.equal(status, 201, text)
    return { path: `/invoices/${String(json['id'])}`, id: String(json['id']) }
  }
  const [draft, voided, issued] = [await invoice(), await invoice(), await invoice()]
  for (const [{ path }, action] of [
    [voided, 'void'],
    [issued, 'issue'],
  ] as const) {
    const answer = await paula.send('POST', `${path}/${action}`, undefined, { 'if-match': '"1"' })
    assert.equal(answer.status, 200, answer.text)
  }
  const asIssued = (await paula.get(issued.path)).json
  assert.deepEqual(await faults(), [])
  assert.equal((await schedule(client)).status, 201)
  await makeDue(database(), client)
  await erase(client)
  await finish(client)
  for (const { path } of [draft, voided]) {
    const { json, status, text } = await paula.get(path)
    assert.deepEqual([status, json['status']], [200, 'void'], text)
    assert.ok(!text.includes(marker), text)
  }
  const still = (await paula.get(issued.path)).json
  assert.deepEqual(still, asIssued)
  assert.equal(at(still, 'buyer', 'name'), `Berta ${marker}`)
  assert.equal((await paula.send('POST', '/invoices', { client, lines })).status, 400)
  assert.deepEqual(await faults(), [])
})

describe('without an erasure that is due', () => {
  test('no role of the portal and not even the owner takes anything away', async () => {
    const client = await fillClient(anna)
    assert.equal((await schedule(client)).status, 201)
    const statements = [
      'delete from letter where client_id = $1',
      `update revision set data = '{}' where client_id = $1`,
      `update revision set data = '{}', erased = sha256('') where client_id = $1`,
      `insert into erased_client (client_id, reason, scheduled_at, revisions, remains) values ($1, 'x', now(), 0, sha256(''))`,
      `update erasure set due_at = now(), scheduled_at = now() - interval '1 year' where client_id = $1`,
      'delete from erasure where client_id = $1',
      `insert into erasure (client_id, reason, due_at, scheduled_at) values ($1, 'x', now(), now() - interval '1 year')`,
      `select erase_client($1, '0 days')`,
    ]
    for (const role of ['consultant', 'partner'] as const) {
      const actor = personActor({ id: role === 'partner' ? paula.id : anna.id, role })
      for (const text of statements) {
        const forged = firm.service.records.access.as({ actor }, [{ name: text, text, values: [client] }])
        await assert.rejects(forged, { code: '42501' }, `${role}: ${text}`)
      }
    }
    await database().rows(`select set_config('tollgate.proof', 'on', false)`)
    for (const text of [
      `update revision set data = '{}' where client_id = $1`,
      'delete from letter where client_id = $1',
    ]) {
      assert.deepEqual(await database().rows(`${text} returning 1`, [client]), [])
    }
    await assert.rejects(database().rows('update erased_client set reason = $1', ['x']), { code: '42501' })
    const { letters } = (await anna.get(`/clients/${client}`)).json
    assert.equal(Array.isArray(letters) && letters.length, 4)
    assert.deepEqual(await faults(), [])
  })
})

const erasureOf = (client: string) =>
  database().rows<{ scheduled_by: string | null; reason: string }>(
    'select scheduled_by, reason from erasure where client_id = $1 and withdrawn_at is null',
    [client],
  )
/** Moves what was done to a client into the past. */
const age = (client: string, years: number) =>
  asSuperuser(database(), async (tx) => {
    await tx.rows('set local session_replication_role = replica')
    await tx.rows(`update revision set at = at - make_interval(years => $2) where client_id = $1`, [client, years])
    await tx.rows(
      `update client set created_at = created_at - make_interval(years => $2), updated_at = updated_at - make_interval(years => $2),
         deleted_at = deleted_at - make_interval(years => $2) where id = $1`,
      [client, years],
    )
  })
const archive = (client: string, status = 'archived') =>
  paula.send('PATCH', `/clients/${client}`, { status }, { 'if-match': '*' })

describe('the retention rule', () => {
  const rule = { kept: '10 years', waiting: month, reason: 'Retention rule: 10 years' }
  test('schedules clients that were archived or deleted long ago, and no others', async () => {
    const [old, young, active, deleted] = await Promise.all(Array.from({ length: 4 }, () => firm.client(anna)))
    assert.ok(old && young && active && deleted)
    for (const client of [old, young]) assert.equal((await archive(client)).status, 200)
    assert.equal((await paula.send('DELETE', `/clients/${deleted}`)).status, 204)
    for (const client of [old, active, deleted]) await age(client, 11)
    await age(young, 9)
    await applyRetention(database(), rule)
    for (const client of [old, deleted]) {
      assert.deepEqual(await erasureOf(client), [{ scheduled_by: null, reason: rule.reason }])
    }
    for (const client of [young, active]) assert.deepEqual(await erasureOf(client), [])
    const shown = await paula.get(`/clients/${old}`)
    assert.equal(at(shown.json, 'erasure', 'scheduled_by'), null)
    // Once withdrawn by a person, it is not scheduled again.
    assert.equal((await withdraw(old)).status, 204)
    await applyRetention(database(), rule)
    assert.deepEqual(await erasureOf(old), [])
    // It is performed like any other.
    await makeDue(database(), deleted)
    await finish(deleted)
    assert.ok((await actionsOn(deleted)).includes('client_erased'))
    assert.deepEqual(
      (await faults()).filter(({ name }) => name.includes('eras')),
      [],
    )
  })

  test('counts from the day that a client was archived, and lets go of one that was restored', async () => {
    const client = await firm.client(anna)
    assert.equal((await archive(client)).status, 200)
    await age(client, 11)
    await applyRetention(database(), rule)
    assert.equal((await erasureOf(client)).length, 1)
    assert.equal((await archive(client, 'active')).status, 200)
    await makeDue(database(), client)
    assert.equal(await erase(client), 'not_due')
    await applyRetention(database(), rule)
    assert.deepEqual(await erasureOf(client), [])
    assert.equal((await archive(client)).status, 200)
    await applyRetention(database(), rule)
    assert.deepEqual(await erasureOf(client), [])
    assert.equal((await paula.get(`/clients/${client}`)).status, 200)
    // That of an active client is a person's, whom the rule does not contradict.
    const chosen = await firm.client(anna)
    assert.equal((await schedule(chosen)).status, 201)
    await applyRetention(database(), rule)
    assert.partialDeepStrictEqual(await erasureOf(chosen), [{ scheduled_by: paula.id }])
  })
})

/** Erases the other clients with the marker, so that what is left of it is of this client. */
async function keepOnly(client: string): Promise<void> {
  const others = await asSuperuser(database(), (tx) =>
    tx.rows<{ id: string }>('select id from client where id <> $1 and name ~ $2', [client, marker]),
  )
  for (const { id } of others) {
    await schedule(id)
    await makeDue(database(), id)
    await erase(id)
    await finish(id)
  }
}

/** Asks for every address of the portal, as a partner and as the consultant. */
async function assertNowhere(client: string, item: unknown): Promise<void> {
  const routes = routesOf(firm.service).filter((route) =>
    /^GET \/(?!docs|assets|auth|signin|v1|openapi|metrics)/.test(route),
  )
  assert.ok(routes.some((route) => route.includes('/search')))
  const queries = [
    '',
    `?q=${marker}&status=all`,
    `?q=${marker}&status=deleted`,
    `?q=${marker}`,
    '?status=deleted',
    `?client=${client}`,
  ]
  for (const route of routes) {
    const path = route.slice(4).replace(':client', client).replace(':item', String(item)).replaceAll(/:\w+/g, client)
    for (const query of queries) {
      for (const reader of [anna, paula]) {
        const answer: Answer = await reader.get(path + query)
        const text = answer.text.replaceAll(`?q=${marker}`, '').replaceAll(encodeURIComponent(`?q=${marker}`), '')
        assert.ok(!text.toLowerCase().includes(marker), `${path}${query}: ${answer.text}`)
      }
    }
  }
}
