import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { once } from 'node:events'
import path from 'node:path'
import { after, test } from 'node:test'
import { verifyBatches } from '../../src/batches/verify.ts'
import { openDatabase } from '../../src/platform/database/database.ts'
import { batchLine, createBatch } from '../support/batches.ts'
import { createTestDatabase } from '../support/database.ts'
import { isEndure } from '../support/draws.ts'
import { at, parseObject } from '../support/json.ts'
import { startService, upstreamModel, type Customer } from '../support/service.ts'
import { log, reapWhere } from '../support/tills.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'
import { assertVerified } from '../support/verified.ts'

/** A moment of a line at which its process is killed. */
interface Moment {
  readonly fate: 'before' | 'sent' | 'answered'
  readonly step: string
  /** One of those that are also in `npm test`: after the hold, and with the reply charged and not kept. */
  readonly always?: true
}

const allMoments: readonly Moment[] = [
  { fate: 'sent', step: 'the claim' },
  { fate: 'answered', step: 'the claim' },
  { fate: 'answered', step: 'the spare' },
  { fate: 'sent', step: 'the hold' },
  { fate: 'answered', step: 'the hold', always: true },
  { fate: 'before', step: 'the charge' },
  { fate: 'sent', step: 'the charge' },
  { fate: 'answered', step: 'the charge', always: true },
  { fate: 'before', step: 'the result' },
  { fate: 'sent', step: 'the result' },
  { fate: 'answered', step: 'the result' },
]
const moments = allMoments.filter(({ always = false }) => isEndure || always)
const names = ['a', 'b', 'c']

const home = await createTestDatabase()
const vendor = await startVendor()
const setup = { models: [upstreamModel(vendor.url)], databaseUrl: home.url }
const database = openDatabase(home.url, { log })
const first = await startService(setup)
const customers: Customer[] = []
for (const _ of moments) customers.push(await first.customer())
for (const { accountId } of customers) {
  const id = randomUUIDv7()
  await database.rows(
    `insert into alert_rule (id, account_id, shares, webhook, secret) values ($1, $2, '{}', 'https://hooks.example.com/', '')`,
    [id, accountId],
  )
  await database.rows('insert into batch_alert (rule_id) values ($1)', [id])
}
// Only the instances that are killed are running.
await first.close()
after(async () => {
  await database.close()
  await vendor.close()
  await home.drop()
})

const child = path.join(import.meta.dirname, '../support/batch-child.ts')
const batches: { readonly id: string; readonly customer: Customer; readonly name: string }[] = []

for (const [index, { fate, step }] of moments.entries()) {
  test(`A54 a process that runs a batch is killed: ${step} ${fate}`, async () => {
    const customer = customers[index] ?? assert.fail()
    const instance = spawn(process.execPath, [child, home.url, vendor.url, step, fate], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(instance, 'exit')
    const [line] = await Promise.race([once(instance.stdout, 'data'), ended.then(() => ['it did not start'])])
    const url = String(line).trim()
    // It may be killed before it can answer.
    await createBatch(
      { url },
      customer.key,
      names.map((each) => batchLine(each)),
    ).catch(() => undefined)
    await ended
    assert.equal(instance.signalCode, 'SIGKILL')
    const [batch] = await database.rows<{ id: string }>('select id from batch where account_id = $1', [
      customer.accountId,
    ])
    // No other instance takes its lines, to be killed by them.
    await database.rows(`update batch set next_at = 'infinity' where account_id = $1`, [customer.accountId])
    batches.push({ id: batch?.id ?? assert.fail('it was not queued'), customer, name: `${step} ${fate}` })
  })
}

test('A54 afterwards another instance goes on, and each line has one reply and one charge', async () => {
  // Instances that were silent for 20 s are dead, and lines that were not said to be running for 30 s are taken again.
  await reapWhere(database, 'true')
  await database.rows(`update batch_line set claimed_at = claimed_at - interval '1 minute'`)
  await database.rows('update batch set next_at = now()')
  const service = await startService(setup)
  await until(async () => (await database.rows('select from batch where ended_at is null')).length === 0)
  for (const { id, customer, name } of batches) {
    const { json } = await service.call(`/v1/batches/batch_${id.replaceAll('-', '')}`, customer.key)
    assert.deepEqual([json['status'], at(json, 'request_counts', 'completed')], ['completed', names.length], name)
    const { text } = await service.call(`/v1/files/${String(json['output_file_id'])}/content`, customer.key)
    const results = text.trimEnd().split('\n').map(parseObject)
    assert.deepEqual(
      results.map((line) => [line['custom_id'], at(line, 'response', 'body', 'choices', 0, 'message', 'content')]),
      names.map((each) => [each, 'Hello there.']),
      name,
    )
    const { rows, holds } = await service.books(customer.accountId)
    assert.deepEqual([rows.length, holds], [names.length, 0], name)
    assert.deepEqual(
      new Set(results.map((line) => at(line, 'response', 'request_id'))),
      new Set(rows.map(({ requestId }) => requestId)),
      name,
    )
  }
  const alerts = await database.rows<{ id: string }>(`select batch ->> 'id' as id from alert order by id`)
  assert.deepEqual(
    alerts.map(({ id }) => id),
    batches.map(({ id }) => id).toSorted(),
    'one alert for each batch',
  )
  assert.deepEqual(
    await database.rows(`select from idempotency where body is distinct from ''`),
    [],
    'no reply is kept twice',
  )
  assertVerified(await verifyBatches(database))
  await service.close()
})

test('A54 a reply that was charged, and lost before it could be kept, is not charged again', async () => {
  const service = await startService(setup)
  const { accountId, key } = await service.customer()
  const { id } = await createBatch(service, key, [batchLine('a')])
  const row = `batch_id = (select id from batch where account_id = $1)`
  await until(async () => (await service.books(accountId)).rows.length === 1)
  await until(async () => (await service.call(`/v1/batches/${id}`, key)).json['status'] === 'completed')
  // As if no instance had run for a day after the charge.
  await database.rows(
    `update batch_line set state = 'queued', result = null, content = (select l.content from batch_file_line l join batch_file f on f.id = file_id
       where account_id = $1) where ${row}`,
    [accountId],
  )
  await database.rows(
    `update batch set status = 'in_progress', succeeded = 0, ended_at = null, output_id = null where account_id = $1`,
    [accountId],
  )
  await until(async () => (await service.call(`/v1/batches/${id}`, key)).json['status'] === 'completed')
  const { json } = await service.call(`/v1/batches/${id}`, key)
  const { text } = await service.call(`/v1/files/${String(json['error_file_id'])}/content`, key)
  assert.match(text, /charged, and its reply was lost/)
  assert.equal((await service.books(accountId)).rows.length, 1)
  await service.close()
})
