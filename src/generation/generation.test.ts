import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { until } from '../../tests/support/until.ts'
import { createAccounts } from '../accounts/accounts.ts'
import type { Caller } from '../accounts/keys.ts'
import { createLedger } from '../billing/ledger.ts'
import { createTill, type Till } from '../billing/till.ts'
import type { Model, Piece } from '../models/model.ts'
import { openDatabase, type Database } from '../platform/database.ts'
import { Problem } from '../platform/problems.ts'
import { createGeneration, type Generation } from './generation.ts'

/** A model that counts 10 tokens and then does as it is told; the real ones never misbehave on command. */
function modelThat(run: (signal: AbortSignal) => AsyncIterable<Piece>): Model {
  return {
    id: 'm',
    contextTokens: 100,
    maxOutputTokens: 50,
    count: async () => ({ tokens: 10, exact: true }),
    run: (_prompt, _limits, signal) => run(signal),
    health: () => ({ ready: true }),
    close: async () => {},
  }
}

const end = (inputTokens: number, outputTokens: number): Piece => ({
  kind: 'end',
  stopReason: 'complete',
  usage: { inputTokens, outputTokens, source: 'model' },
})

const price = { input: 1n, output: 1000n }
const body = { model: 'm', input: 'Hello', max_output_tokens: 20 }

describe('a generation', () => {
  let server: TestDatabase
  let database: Database
  let till: Till
  let caller: Caller
  let generation: Generation
  const { log, text } = createTestLog()
  before(async () => {
    server = await createTestDatabase()
    database = openDatabase(server.url, { log })
    till = await createTill({ database, log })
  })
  after(async () => {
    await till.drain()
    await database.close()
    await server.drop()
  })

  async function generate(run: (signal: AbortSignal) => AsyncIterable<Piece>, signal = new AbortController().signal) {
    const limits = { requestsPerMinute: 1000, tokensPerMinute: 100_000 }
    const account = await createAccounts({ database }).create({ name: 'Test', ...limits, credit: 10n ** 12n })
    caller = { accountId: account.id, keyId: randomUUIDv7(), allowedModels: null }
    const offer = { id: 'm', aliases: [], model: modelThat(run), price, createdAt: 1_700_000_000 }
    const catalogue = { find: () => offer, list: () => [offer], close: async () => {} }
    generation = createGeneration({ catalogue, till, log, currency: 'USD' })
    return generation.generate(caller, body, { requestId: randomUUIDv7(), signal })
  }

  async function charged() {
    const rows = await createLedger({ database }).page({ accountId: caller.accountId, limit: 10 })
    const account = await createAccounts({ database }).show(caller.accountId)
    assert.equal(account.held, 0n)
    return rows.map((row) => [row.inputTokens, row.outputTokens, row.cost])
  }

  it('is charged what it used', async () => {
    const reply = await generate(async function* () {
      yield { kind: 'text', text: 'Hi' }
      yield end(10, 2)
    })
    assert.equal(
      reply.body,
      '{"output_text":"Hi","stop_reason":"complete","usage":{"input_tokens":10,"output_tokens":2}}',
    )
    assert.deepEqual(reply.headers, { 'x-model': 'm', 'x-cost': '0.00000000201' })
    assert.deepEqual(await charged(), [[10, 2, 2010n]])
  })

  it('is charged no more than was held, and no more is said, when a model uses more than it had counted', async () => {
    const reply = await generate(async function* () {
      yield end(11, 21)
    })
    assert.deepEqual(reply.usage, { inputTokens: 10, outputTokens: 20 })
    assert.match(reply.body, /"input_tokens":10,"output_tokens":20/)
    assert.deepEqual(await charged(), [[10, 20, 20_010n]])
    assert.match(text(), /used more than was held/)
  })

  it('that breaks, by whatever error, is not charged and leaves no hold', async () => {
    await assert.rejects(
      generate(async function* () {
        yield { kind: 'text', text: 'Hi' }
        throw new TypeError('a fault')
      }),
      TypeError,
    )
    assert.deepEqual(await charged(), [])
  })

  it('whose caller left before the model was called is not charged, and the model is not called', async () => {
    let called = false
    const run = async function* () {
      called = true
      yield end(10, 1)
    }
    await assert.rejects(generate(run, AbortSignal.abort()), Problem)
    assert.deepEqual([called, await charged()], [false, []])
  })

  it('whose caller has gone is waited for before the service ends', async () => {
    const gone = new AbortController()
    let called = false
    const pending = generate(async function* (signal) {
      called = true
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await new Promise((resolve) => setTimeout(resolve, 100))
      yield { ...end(10, 4), stopReason: 'cancelled' }
    }, gone.signal)
    await until(() => called)
    gone.abort()
    await generation.settled()
    assert.deepEqual(await charged(), [[10, 4, 4010n]])
    await pending
  })
})
