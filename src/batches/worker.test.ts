import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { fixture } from '../../tests/support/fixture.ts'
import { createGate } from '../../tests/support/gate.ts'
import { at, parseObject } from '../../tests/support/json.ts'
import { log, openTills } from '../../tests/support/tills.ts'
import { until } from '../../tests/support/until.ts'
import { assertVerified } from '../../tests/support/verified.ts'
import type { Caller } from '../accounts/keys/keys.ts'
import { removeRule } from '../alerts/store.ts'
import { verifyBooks } from '../billing/verify.ts'
import { createQueuedCalls } from '../generation/calls/queued-calls.ts'
import { createGeneration } from '../generation/generation.ts'
import type { Model, WholeReply } from '../models/model.ts'
import type { Database } from '../platform/database/database.ts'
import { createEncryption } from '../platform/encryption/encryption.ts'
import { Problem } from '../platform/problems.ts'
import { contexts, type Batch } from './batch.ts'
import * as store from './batches-store.ts'
import { createBatches } from './batches.ts'
import * as queue from './queue-store.ts'
import { createResultReader } from './results.ts'
import { createRunner, type RunnerNeeds } from './runner.ts'
import { verifyBatches } from './verify.ts'
import { startWorker } from './worker.ts'

const stage = fixture(() => openTills(1))
const encryption = createEncryption(Buffer.alloc(32, 7))
const endpoint = '/v1/messages' as const

type Run = (signal: AbortSignal) => Promise<WholeReply>

const usage = { inputTokens: 10, outputTokens: 2, source: 'model' } as const
const answers: Run = async () => ({ text: 'Hi', stopReason: 'complete', usage })
const isBusy: Run = async () => {
  throw new Problem('overloaded', 'It is busy.')
}
const waitsFor =
  (gate: ReturnType<typeof createGate>): Run =>
  async (signal) => {
    await Promise.race([gate.pass(0), new Promise((resolve) => signal.addEventListener('abort', resolve))])
    return signal.aborted ? { text: '', stopReason: 'cancelled', usage } : answers(signal)
  }

/** By the ids of their keys. */
const callers = new Map<string, Caller>()

/** Accounts with batches, and models that behave like this. */
function open(models: Readonly<Record<string, Run>>) {
  let [calls, counts] = [0, 0]
  const offers = Object.entries(models).map(([id, run]) => {
    const model: Model = {
      id,
      contextTokens: 1000,
      capabilities: new Set(),
      cheapPrompt: 1000,
      maxOutputTokens: 50,
      async count() {
        counts += 1
        return { tokens: 10, exact: true }
      },
      run(_prompt, _limits, signal) {
        calls += 1
        return run(signal)
      },
      stream: () => assert.fail('batches have whole replies'),
      health: () => ({ ready: true }),
      close: async () => {},
    }
    return { aliases: [], model, price: { input: 1n, output: 1000n }, createdAt: 1_700_000_000, fallback: undefined }
  })
  const find = (name: string) => offers.find(({ model }) => model.id === name) ?? assert.fail(name)
  const catalogue = { find, list: () => offers, configured: () => [], close: async () => {} }
  const { database } = stage
  const till = stage.nth(0)
  const generation = createGeneration({ catalogue, till, log, currency: 'USD' })
  const common = { generation, requestBytes: 100_000, permitted: { fields: new Set<string>() }, images: { check() {} } }
  const queued = createQueuedCalls({ ...common, baseUrl: 'https://tollgate.test' })
  const clients = new Set<string>()
  const needs = { database, encryption, till, calls: queued, log, isClient: async (id: string) => clients.has(id) }
  const limits = { bytes: 1_000_000, lineBytes: 100_000, kept: '29 days' }
  const batches = createBatches({ ...needs, generation, limits, mostLines: 100, wake() {} })

  async function account(credit = 10n ** 12n): Promise<Caller> {
    const { accountId, keyId = '' } = await stage.addAccount({ credit })
    // Its lines need not wait for what its limits leave.
    await database.rows(
      'insert into spare (id, at, requests, tokens) values ($1, clock_timestamp(), 60000000000, 60000000000000)',
      [accountId],
    )
    const caller = {
      publicId: keyId,
      keyId,
      accountId,
      own: true,
      allowedModels: null,
      limitId: undefined,
      sharedBudgets: undefined,
    }
    callers.set(keyId, caller)
    return caller
  }

  return {
    clients,
    account,
    calls: () => calls,
    counts: () => counts,
    /** Queues a line for each of these models. */
    queue(caller: Caller, names: readonly string[], params: object = {}): Promise<Batch> {
      async function* lines() {
        for (const [index, model] of names.entries()) {
          const messages = [{ role: 'user', content: 'Hello' }]
          const request = { custom_id: `line-${index + 1}`, params: { model, max_tokens: 10, messages, ...params } }
          yield { number: index + 1, bytes: Buffer.from(JSON.stringify(request)) }
        }
      }
      return batches.createFromLines(caller, lines(), { dialect: 'anthropic', endpoint })
    },
    /** Takes the next line of a batch, as an instance does, and returns how it runs it. */
    async take({ id }: Batch, changes: Partial<RunnerNeeds> = {}) {
      const batch =
        (await queue.readDueBatches(database, 100)).find((due) => due.id === id) ?? assert.fail('it is not due')
      const [line] = await queue.takeLines(database, id, [randomUUIDv7()])
      const run = createRunner({ ...needs, ...changes }, new AbortController().signal)
      return (caller: Caller | undefined) => run(batch, line ?? assert.fail('no line was taken'), caller)
    },
    worker: (parallel: number) =>
      startWorker({
        ...needs,
        parallel,
        keys: { identifyAgain: ({ publicId }) => callers.get(publicId) ?? assert.fail(publicId) },
      }),
    cancel: (caller: Caller, { id }: Batch) =>
      batches.cancel({ accountId: caller.accountId, dialect: 'anthropic' }, id),
    show: (caller: Caller, { id }: Batch) => batches.show({ accountId: caller.accountId, dialect: 'anthropic' }, id),
    download: (caller: Caller, { id }: Batch) =>
      batches.results({ accountId: caller.accountId, dialect: 'anthropic' }, id),
    async results(caller: Caller, batch: Batch) {
      const { lines } = await this.download(caller, batch)
      return (await Array.fromAsync(lines)).join('').trimEnd().split('\n').map(parseObject)
    },
  }
}

/** As if an instance had not said for a minute that it runs the lines of the batch. */
async function lapse({ id }: Batch): Promise<void> {
  await stage.database.rows(`update batch_line set claimed_at = claimed_at - interval '1 minute' where batch_id = $1`, [
    id,
  ])
  await queue.queueLapsedLines(stage.database)
}

async function end({ id }: Batch): Promise<void> {
  await queue.endBatches(stage.database)
  const [row] = await stage.database.rows<{ ended: boolean }>(
    'select ended_at is not null as ended from batch where id = $1',
    [id],
  )
  assert.equal(row?.ended, true, 'it has not ended')
}

/** Takes the only line of a batch as often as it is queued again. */
async function runUntilEnded(world: ReturnType<typeof open>, caller: Caller, batch: Batch): Promise<void> {
  do {
    await until(async () => (await queue.readDueBatches(stage.database, 100)).some(({ id }) => id === batch.id))
    await (
      await world.take(batch)
    )(caller)
    await queue.endBatches(stage.database)
  } while ((await world.show(caller, batch)).endedAt === null)
}

async function assertTrue(): Promise<void> {
  assertVerified((await verifyBooks(stage.database)).checks)
  assertVerified(await verifyBatches(stage.database))
}

/** The database of an instance that dies at this statement. */
function dyingAt(statement: string): Database {
  const { database } = stage
  return {
    ...database,
    rows: (asked, values) =>
      typeof asked === 'object' && asked.name === statement
        ? Promise.reject(new Error('the connection is lost'))
        : database.rows(asked, values),
  }
}

describe('a line of a batch', () => {
  test('is charged once, even if an instance goes on with it after another one has ended it', async () => {
    const world = open({ m: answers })
    const caller = await world.account()
    const batch = await world.queue(caller, ['m'])
    const gate = createGate()
    const till = stage.nth(0)
    let stopped = false
    const slow = await world.take(batch, {
      till: {
        ...till,
        async takeSpare(...of) {
          stopped = true
          await gate.pass(0)
          return till.takeSpare(...of)
        },
      },
    })
    const late = slow(caller)
    await until(() => stopped)
    await lapse(batch)
    await (
      await world.take(batch)
    )(caller)
    await end(batch)
    const before = await world.results(caller, batch)
    gate.open()
    await late
    assert.equal(at(before, 0, 'result', 'type'), 'succeeded')
    assert.deepEqual(await world.results(caller, batch), before)
    const { succeeded, failed } = await world.show(caller, batch)
    assert.deepEqual([succeeded, failed, world.calls()], [1, 0, 1])
    assert.equal((await stage.ledgerRows(caller)).length, 1)
    const stored = await stage.database.rows(
      'select from idempotency where account_id = $1 and (body is null or body <> $2)',
      [caller.accountId, ''],
    )
    assert.deepEqual(stored, [], 'no reply is kept twice')
    await assertTrue()
  })

  for (const [how, endsBy] of [
    ['has failed it', 'a failure'],
    ['has left it out of a batch that was cancelled', 'a cancellation'],
  ] as const) {
    test(`is not charged by an instance that goes on after another one ${how}`, async () => {
      const world = open({ m: answers })
      const caller = await world.account()
      const client = randomUUIDv7()
      world.clients.add(client)
      const batch = await world.queue(caller, ['m'], { metadata: { client_id: client } })
      const gate = createGate()
      const till = stage.nth(0)
      let stopped = false
      const slow = await world.take(batch, {
        till: {
          ...till,
          // After the last look at its claim.
          async takeSpare() {
            stopped = true
            await gate.pass(0)
            return 0
          },
        },
      })
      const late = slow(caller)
      await until(() => stopped)
      await lapse(batch)
      // It has to wait at first, which does not make it forget the other one.
      await (
        await world.take(batch, { till: { ...till, takeSpare: async () => 1 } })
      )(caller)
      world.clients.delete(client)
      if (endsBy === 'a cancellation') await world.cancel(caller, batch)
      await until(async () => (await queue.readDueBatches(stage.database, 100)).some(({ id }) => id === batch.id))
      await (
        await world.take(batch)
      )(caller)
      await end(batch)
      gate.open()
      await late
      const { status, failed } = await world.show(caller, batch)
      assert.deepEqual([status, failed], endsBy === 'a failure' ? ['completed', 1] : ['cancelled', 0])
      assert.deepEqual([world.calls(), (await stage.ledgerRows(caller)).length], [0, 0])
      assert.deepEqual((await stage.account(caller)).held, 0n)
      await assertTrue()
    })
  }

  for (const [how, endsBy] of [
    ['would fail now', 'a failure'],
    ['is in a batch that was cancelled', 'a cancellation'],
  ] as const) {
    test(`has the reply that an instance was charged for after another one took it, even if it ${how}`, async () => {
      const world = open({ m: answers })
      const caller = await world.account()
      const client = randomUUIDv7()
      world.clients.add(client)
      const batch = await world.queue(caller, ['m'], { metadata: { client_id: client } })
      const gate = createGate()
      const till = stage.nth(0)
      let stopped = false
      const slow = await world.take(batch, {
        till: { ...till, takeSpare: async () => ((stopped = true), await gate.pass(0), 0) },
      })
      const late = slow(caller)
      await until(() => stopped)
      await lapse(batch)
      // The line then names this try, which may have been charged, and no longer the first one.
      await (
        await world.take(batch, {
          till: { ...till, takeSpare: () => Promise.reject(new Problem('unavailable', 'The database is away.')) },
        })
      )(caller)
      gate.open()
      await late
      assert.equal((await stage.ledgerRows(caller)).length, 1)
      world.clients.delete(client)
      if (endsBy === 'a cancellation') await world.cancel(caller, batch)
      await runUntilEnded(world, caller, batch)
      const { succeeded, failed } = await world.show(caller, batch)
      assert.deepEqual([succeeded, failed, world.calls()], [1, 0, 1])
      assert.equal(at(await world.results(caller, batch), 0, 'result', 'message', 'content', 0, 'text'), 'Hi')
      assert.equal((await stage.ledgerRows(caller)).length, 1)
      await assertTrue()
    })
  }

  test('that was charged fails if its reply can no longer be read, and still names its charge', async () => {
    const world = open({ m: answers })
    const caller = await world.account()
    const batch = await world.queue(caller, ['m'])
    await assert.rejects((await world.take(batch, { database: dyingAt('end line') }))(caller), /lost/)
    await lapse(batch)
    await stage.database.rows(`update batch_line set content = '' where batch_id = $1`, [batch.id])
    await (
      await world.take(batch)
    )(caller)
    await end(batch)
    const [row] = await stage.ledgerRows(caller)
    assert.match(JSON.stringify(await world.results(caller, batch)), /charged, and its reply was lost/)
    assert.deepEqual(
      await stage.database.rows(
        `select state, l.request_id as charged, body from batch_line l, idempotency i where batch_id = $1 and account_id = $2`,
        [batch.id, caller.accountId],
      ),
      [{ state: 'failed', charged: row?.request_id, body: '' }],
    )
    await assertTrue()
  })

  test('does not fail while a request of another instance is in flight for it', async () => {
    const gate = createGate()
    const world = open({ m: waitsFor(gate) })
    const caller = await world.account()
    const client = randomUUIDv7()
    world.clients.add(client)
    const batch = await world.queue(caller, ['m'], { metadata: { client_id: client } })
    const slow = await world.take(batch)
    const late = slow(caller)
    await until(() => world.calls() === 1)
    // As if it had been queued again before the request was in flight.
    await stage.database.rows(
      `update batch_line set state = 'queued', claimed_at = null, request_id = null where batch_id = $1`,
      [batch.id],
    )
    world.clients.delete(client)
    await (
      await world.take(batch)
    )(caller)
    assert.equal((await world.show(caller, batch)).failed, 0)
    gate.open()
    await late
    await until(async () => (await queue.readDueBatches(stage.database, 100)).some(({ id }) => id === batch.id))
    await (
      await world.take(batch)
    )(caller)
    await end(batch)
    assert.equal((await world.show(caller, batch)).succeeded, 1)
    assert.equal((await stage.ledgerRows(caller)).length, 1)
    await assertTrue()
  })

  test('is not changed by an instance that has lost it', async () => {
    const world = open({ m: answers })
    const caller = await world.account()
    const batch = await world.queue(caller, ['m'])
    const gate = createGate()
    let stopped = false
    const slow = await world.take(batch, {
      isClient: async () => false,
      till: { ...stage.nth(0), takeSpare: async () => ((stopped = true), await gate.pass(0), 60_000) },
    })
    const late = slow(caller)
    await until(() => stopped)
    await lapse(batch)
    const second = await world.take(batch)
    gate.open()
    await late
    const [line] = await stage.database.rows<{ state: string }>('select state from batch_line where batch_id = $1', [
      batch.id,
    ])
    assert.equal(line?.state, 'running')
    await second(caller)
    await end(batch)
    assert.equal((await world.show(caller, batch)).succeeded, 1)
  })

  for (const [how, age] of [
    ['', '0 hours'],
    [', however long ago', '30 hours'],
  ] as const) {
    test(`has the reply that was charged before a crash, even if its account is closed now${how}`, async () => {
      const world = open({ m: answers })
      const caller = await world.account()
      const batch = await world.queue(caller, ['m'])
      await assert.rejects((await world.take(batch, { database: dyingAt('end line') }))(caller), /lost/)
      await stage.database.rows(`update idempotency set created_at = created_at - $2::interval where account_id = $1`, [
        caller.accountId,
        age,
      ])
      await stage.database.rows(`update account set status = 'closed' where id = $1`, [caller.accountId])
      await lapse(batch)
      await (
        await world.take(batch)
      )(undefined)
      await end(batch)
      const [ledger, ...others] = await stage.ledgerRows(caller)
      const [result] = await world.results(caller, batch)
      assert.deepEqual([others.length, world.calls()], [0, 1])
      assert.equal(at(result, 'result', 'message', 'content', 0, 'text'), 'Hi')
      assert.ok(ledger)
      await stage.database.rows(`update account set status = 'open' where id = $1`, [caller.accountId])
    })
  }

  test('fails if it can no longer be read, and is downloaded with an error', async () => {
    const world = open({ m: answers })
    const caller = await world.account()
    const batch = await world.queue(caller, ['m', 'm'])
    const broken = encryption.encrypt('{', contexts.line(caller.accountId, batch.id, 1))
    await stage.database.rows('update batch_line set content = $2 where batch_id = $1 and number = 1', [
      batch.id,
      broken,
    ])
    await using worker = closing(world.worker(1))
    worker.wake()
    await until(async () => (await world.show(caller, batch)).endedAt !== null)
    const { succeeded, failed } = await world.show(caller, batch)
    assert.deepEqual([succeeded, failed], [1, 1])
    const [first] = await world.results(caller, batch)
    assert.deepEqual(
      [at(first, 'custom_id'), at(first, 'result', 'error', 'error', 'type')],
      ['line 1', 'invalid_request_error'],
    )
  })

  test('does not go missing from a download that looks complete', async () => {
    const world = open({ m: answers })
    const caller = await world.account()
    const batch = await world.queue(caller, ['m'])
    await (
      await world.take(batch)
    )(caller)
    await end(batch)
    const { lines } = await world.download(caller, batch)
    await stage.database.rows('delete from batch_line where batch_id = $1', [batch.id])
    await assert.rejects(Array.fromAsync(lines), /removed while/)
    await stage.database.rows('delete from batch where id = $1', [batch.id])
  })

  test('is reported if it has the charge of another one', async () => {
    const world = open({ m: answers })
    const caller = await world.account()
    const batch = await world.queue(caller, ['m', 'm'])
    for (let each = 0; each < 2; each++) await (await world.take(batch))(caller)
    await end(batch)
    await assertTrue()
    await stage.database.rows(
      `update batch_line set request_id = (select request_id from batch_line where batch_id = $1 and number = 1) where batch_id = $1`,
      [batch.id],
    )
    const checks = await verifyBatches(stage.database)
    assert.deepEqual(
      checks.filter(({ ok }) => !ok).map(({ name, faults }) => [name, faults.length]),
      [['every reply of a batch was charged to its key, once', 2]],
    )
    await stage.database.rows('delete from batch where id = $1', [batch.id])
  })

  for (const [what, change] of [
    ['has failed', `update batch_line set state = 'failed', request_id = null where batch_id = $1`],
    ['was not run', `update batch_line set state = 'queued', request_id = null where batch_id = $1`],
  ] as const) {
    test(`is reported if it ${what} and was charged`, async () => {
      const world = open({ m: answers })
      const caller = await world.account()
      const batch = await world.queue(caller, ['m'])
      await (
        await world.take(batch)
      )(caller)
      await end(batch)
      await stage.database.rows(change, [batch.id])
      const checks = await verifyBatches(stage.database)
      const [row] = await stage.ledgerRows(caller)
      assert.deepEqual(
        checks.filter(({ ok }) => !ok).map(({ name, faults }) => [name, at(faults, 0, 'request'), faults.length]),
        [['no line that failed or was not run was charged', row?.request_id, 1]],
      )
      await stage.database.rows('delete from batch where id = $1', [batch.id])
    })
  }

  for (const [what, credit, wait] of [
    ['the limits of its account have', 10n ** 12n, 60_000],
    ['half of the credit that is free has', 15_000n, 0],
  ] as const) {
    test(`that is long is not counted while ${what} no room for it`, async () => {
      const world = open({ m: answers })
      const caller = await world.account(credit)
      const messages = [{ role: 'user', content: 'x'.repeat(2000) }]
      const batch = await world.queue(caller, ['m'], { messages })
      const till = stage.nth(0)
      await (
        await world.take(batch, { till: { ...till, takeSpare: async () => wait } })
      )(caller)
      const [line] = await stage.database.rows<{ state: string }>('select state from batch_line where batch_id = $1', [
        batch.id,
      ])
      assert.deepEqual([line?.state, world.counts(), world.calls()], ['queued', 0, 0])
      await stage.database.rows('delete from batch where id = $1', [batch.id])
    })
  }

  test('whose client is no longer one is not made', async () => {
    const world = open({ m: answers })
    const caller = await world.account()
    const client = randomUUIDv7()
    world.clients.add(client)
    const batch = await world.queue(caller, ['m'], { metadata: { client_id: client } })
    world.clients.delete(client)
    await (
      await world.take(batch)
    )(caller)
    await end(batch)
    assert.match(JSON.stringify(await world.results(caller, batch)), /No client has the id/)
    assert.deepEqual([world.calls(), (await stage.ledgerRows(caller)).length], [0, 0])
  })
})

test('the size of a file of errors is read once, and again after lines are erased', async () => {
  const world = open({ m: answers })
  const caller = await world.account()
  const batch = await world.queue(caller, ['m', 'm'])
  await world.cancel(caller, batch)
  await end(batch)
  const file = randomUUIDv7()
  await stage.database.rows(`update batch set dialect = 'openai', error_id = $2 where id = $1`, [batch.id, file])
  let decrypted = 0
  const counted = {
    ...encryption,
    decrypt: (...of: Parameters<typeof encryption.decrypt>) => (decrypted++, encryption.decrypt(...of)),
  }
  const reader = createResultReader({ database: stage.database, encryption: counted })
  const sent = async () => {
    const { lines } = reader.download(...(await reader.ofFile(caller.accountId, file)))
    return Buffer.byteLength((await Array.fromAsync(lines)).join(''))
  }
  const { bytes } = await reader.file(caller.accountId, file)
  assert.equal(decrypted, 2)
  assert.equal((await reader.file(caller.accountId, file)).bytes, bytes)
  assert.equal(decrypted, 2)
  assert.equal(bytes, await sent())
  await stage.database.rows('update batch_line set content = null where batch_id = $1 and number = 1', [batch.id])
  assert.equal((await reader.file(caller.accountId, file)).bytes, await sent())
  await stage.database.rows('delete from batch where id = $1', [batch.id])
})

const closing = (worker: ReturnType<typeof startWorker>) => ({ ...worker, [Symbol.asyncDispose]: worker.close })

describe('an instance that runs batches', () => {
  test('gives up the lines that it runs when it closes, uncharged, and another one runs them', async () => {
    const world = open({ m: waitsFor(createGate()) })
    const caller = await world.account()
    const batch = await world.queue(caller, ['m'])
    const first = world.worker(1)
    await until(() => world.calls() === 1)
    await first.close()
    const { held, charged } = await stage.account(caller)
    assert.deepEqual([held, charged], [0n, 0n])
    const lines = await stage.database.rows('select state, tries from batch_line where batch_id = $1', [batch.id])
    assert.deepEqual(lines, [{ state: 'queued', tries: 0 }])
    await using _ = closing(open({ m: answers }).worker(1))
    await until(async () => (await world.show(caller, batch)).endedAt !== null)
    assert.equal((await world.show(caller, batch)).succeeded, 1)
    assert.equal((await stage.ledgerRows(caller)).length, 1)
  })

  test('runs lines while the removal of what has expired waits for another transaction', async () => {
    const world = open({ m: answers })
    const caller = await world.account()
    await stage.database.rows(
      `insert into batch_file (id, account_id, name, expires_at) values ($1, $2, '', now() - interval '1 hour')`,
      [randomUUIDv7(), caller.accountId],
    )
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const other = stage.database.transaction(async (tx) => {
      await tx.rows('select from batch_file where account_id = $1 for update', [caller.accountId])
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const batch = await world.queue(caller, ['m'])
    const worker = world.worker(1)
    await until(async () => (await world.show(caller, batch)).endedAt !== null).finally(() => held.resolve())
    await other
    await worker.close()
  })

  test('makes the other lines of a batch while a model has no room', async () => {
    const world = open({ busy: isBusy, m: answers })
    const caller = await world.account()
    const batch = await world.queue(caller, ['busy', 'm'])
    await using _ = closing(world.worker(1))
    await until(async () => (await world.show(caller, batch)).succeeded === 1)
    await stage.database.rows('delete from batch where id = $1', [batch.id])
  })

  test('has a place for another account while one account waits for its model', async () => {
    const gate = createGate()
    const world = open({ slow: waitsFor(gate), m: answers })
    const [waiting, other] = [await world.account(), await world.account()]
    const long = await world.queue(waiting, ['slow', 'slow', 'slow'])
    await using _ = closing(world.worker(2))
    await until(() => world.calls() > 0)
    const batch = await world.queue(other, ['m'])
    await until(async () => (await world.show(other, batch)).succeeded === 1)
    assert.equal((await world.show(waiting, long)).succeeded, 0)
    gate.open()
    await until(async () => (await world.show(waiting, long)).succeeded === 3)
  })
})

describe('the end of a batch', () => {
  const { rows } = { rows: (...of: Parameters<Database['rows']>) => stage.database.rows(...of) }
  /** A rule that reports the end of batches. */
  async function addRule({ accountId }: Caller): Promise<string> {
    const id = randomUUIDv7()
    await rows(
      `insert into alert_rule (id, account_id, shares, webhook, secret) values ($1, $2, '{}', 'https://hooks.example.com/', '')`,
      [id, accountId],
    )
    await rows('insert into batch_alert (rule_id) values ($1)', [id])
    return id
  }
  /** The alerts about a batch. */
  const alertsOf = ({ id }: Pick<Batch, 'id'>) =>
    rows(`select rule_id as rule, share, ended, batch from alert where batch ->> 'id' = $1 order by rule_id`, [id])

  test('is queued as an alert once for each rule that asks for it, however it ends', async () => {
    const world = open({ m: answers })
    const [caller, other] = [await world.account(), await world.account()]
    const asking = [await addRule(caller), await addRule(caller)]
    const [silent, removed] = [await addRule(caller), await addRule(caller)]
    await addRule(other)
    await rows('delete from batch_alert where rule_id = $1', [silent])
    await rows('update alert_rule set removed_at = now() where id = $1', [removed])
    const queuedFor = (batch: object) => asking.map((rule) => ({ rule, share: null, ended: null, batch }))

    const completed = await world.queue(caller, ['m'])
    await (
      await world.take(completed)
    )(caller)
    assert.deepEqual(await alertsOf(completed), [], 'it has not ended')
    await Promise.all(Array.from({ length: 4 }, () => queue.endBatches(stage.database)))
    const { id } = completed
    const all = { dialect: 'anthropic', lines: 1, succeeded: 1, failed: 0 }
    assert.deepEqual(await alertsOf(completed), queuedFor({ ...all, id, status: 'completed' }))

    const cancelled = await world.queue(caller, ['m', 'm'])
    await world.cancel(caller, cancelled)
    await end(cancelled)
    const none = { lines: 2, succeeded: 0, failed: 0 }
    assert.deepEqual(await alertsOf(cancelled), queuedFor({ ...all, ...none, id: cancelled.id, status: 'cancelled' }))

    const refused = {
      ...caller,
      id: randomUUIDv7(),
      dialect: 'openai',
      endpoint,
      fileId: null,
      metadata: null,
    } as const
    await store.insertBatch(stage.database, {
      ...refused,
      windowSeconds: 60,
      bytes: 0n,
      kept: '1 day',
      keptSeconds: null,
    })
    await store.refuseBatch(stage.database, refused.id, [])
    const nothing = { dialect: 'openai', lines: 0, succeeded: 0, failed: 0 }
    assert.deepEqual(await alertsOf(refused), queuedFor({ ...nothing, id: refused.id, status: 'failed' }))
  })

  test('drops its alert if the rule is removed at the same time', async () => {
    const world = open({ m: answers })
    const caller = await world.account()
    const rule = await addRule(caller)
    const batch = await world.queue(caller, ['m'])
    await world.cancel(caller, batch)
    let removal: Promise<unknown> | undefined
    await stage.database.transaction(async (tx) => {
      await queue.endBatches(tx)
      let isRemoved = false
      removal = removeRule(stage.database, caller.accountId, rule).then(() => (isRemoved = true))
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await until(async () => isRemoved || (await rows(waiting)).length > 0)
    })
    await removal
    assert.deepEqual(
      (await alertsOf(batch)).map((alert) => at(alert, 'ended')),
      ['given_up'],
    )
  })
})
