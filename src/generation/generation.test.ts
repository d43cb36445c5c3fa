import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { byService } from '../access/actor.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { settle } from '../../tests/support/clock.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { until } from '../../tests/support/until.ts'
import { valuesOf } from '../../tests/support/json.ts'
import { createAccounts } from '../accounts/accounts.ts'
import type { Payer } from '../billing/payer.ts'
import type { Price } from '../billing/prices/prices.ts'
import { createLedger } from '../billing/reports/ledger.ts'
import { createTill } from '../billing/till/postgres-till.ts'

import type { Model, StreamPart } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'
import type { Job, TextRequest } from './request.ts'
import { createGeneration, type Generation, type Reply, type Step } from './generation.ts'

/**
 * A model that counts 10 tokens and then behaves as instructed, whole or as a stream. Real models do not fail on demand.
 */
function modelThat(stream: (signal: AbortSignal) => AsyncIterable<StreamPart>): Model {
  return {
    id: 'm',
    contextTokens: 100,
    capabilities: new Set(),
    cheapPrompt: 1000,
    maxOutputTokens: 50,
    count: async () => ({ tokens: 10, exact: true }),
    async run(_prompt, _limits, signal) {
      let text = ''
      for await (const piece of stream(signal)) {
        if (piece.kind === 'end') return { text, stopReason: piece.stopReason, usage: piece.usage }
        if (piece.kind === 'texts') text += piece.texts.join('')
      }
      throw new Error('The run ended without saying how.')
    },
    stream: (_prompt, _limits, signal) => stream(signal),
    health: () => ({ ready: true }),
    close: async () => {},
  }
}

const end = (inputTokens: number, outputTokens: number): StreamPart => ({
  kind: 'end',
  stopReason: 'complete',
  usage: { inputTokens, outputTokens, source: 'model' },
})

const price = { input: 1n, output: 1000n }
const request: TextRequest = {
  model: 'm',
  prompt: { messages: [{ role: 'user', text: 'Hello' }] },
  stream: false,
  maxOutputTokens: 20,
  names: { maxOutputTokens: 'max_output_tokens', input: 'input' },
}

async function replyOf(steps: AsyncIterable<Step>): Promise<Reply> {
  const all = await Array.fromAsync(steps)
  const last = all.at(-1)
  assert.ok(last?.kind === 'reply')
  return last.reply
}

const failing = async function* (): AsyncGenerator<StreamPart> {
  yield* []
  throw new Problem('upstream_failed', 'It failed.')
}
const working = async function* (): AsyncGenerator<StreamPart> {
  yield { kind: 'texts', texts: ['Hi'] }
  yield end(10, 2)
}

/** Writes one text and goes on until it is stopped. */
const untilStopped = async function* (signal: AbortSignal): AsyncGenerator<StreamPart> {
  yield { kind: 'texts', texts: ['One'] }
  while (!signal.aborted) await new Promise((resolve) => setImmediate(resolve))
  yield { kind: 'end', stopReason: 'cancelled', usage: { inputTokens: 10, outputTokens: 1, source: 'model' } }
}

const breaking = async function* (): AsyncGenerator<StreamPart> {
  yield { kind: 'texts', texts: ['Hi'] }
  yield { kind: 'end', stopReason: 'error', usage: { inputTokens: 10, outputTokens: 1, source: 'model' } }
}

describe('a generation', () => {
  let payer: Payer
  let generation: Generation
  let requestId: string
  const { log } = createTestLog()
  const { database } = openOwnDatabase(log)
  const till = fixture(() => createTill({ database, log }))
  after(() => till.drain())

  /** A new account pays. */
  async function renew(credit = 10n ** 12n, requestsPerMinute = 1000): Promise<void> {
    requestId = randomUUIDv7()
    const limits = { requestsPerMinute, tokensPerMinute: 100_000 }
    const account = await createAccounts({ database }).create({ name: randomUUIDv7(), ...limits, credit }, byService)
    payer = { accountId: account.id, keyId: randomUUIDv7() }
  }

  /** Lets requests be carried out by the first of these models, which falls back on the next. */
  function offer(...models: readonly (Model & { readonly price?: Price })[]): void {
    const offers = models.map(({ price: own = price, ...model }, index) => {
      return { aliases: [], model, price: own, createdAt: 1_700_000_000, fallback: models[index + 1]?.id }
    })
    const find = (name: string) => offers.find(({ model }) => model.id === name) ?? assert.fail(name)
    const catalogue = { find, list: () => offers, configured: () => [], close: async () => {} }
    generation = createGeneration({ catalogue, till, log, currency: 'USD' })
  }

  /** A job of a new account, and a generation that carries it out with a model that runs like this. */
  async function jobOf(
    stream: boolean,
    run: (signal: AbortSignal) => AsyncIterable<StreamPart>,
    signal = new AbortController().signal,
    idempotency?: { readonly key: string; readonly hash: string },
  ): Promise<Job> {
    await renew()
    offer(modelThat(run))
    return { requestId, request: { ...request, stream }, payer, allowedModels: null, signal, idempotency }
  }

  async function generate(...given: Parameters<typeof jobOf>) {
    const job = await jobOf(...given)
    return job.request.stream ? replyOf(generation.stream(job)) : generation.generate(job)
  }

  /** Asks again for what a payer has asked for with an idempotency key. */
  function ask(hash: string, key = 'k', stream = false): Promise<Reply> {
    const { signal } = new AbortController()
    const common = { requestId: randomUUIDv7(), request: { ...request, stream }, payer, allowedModels: null, signal }
    const job = { ...common, idempotency: { key, hash } }
    return stream ? replyOf(generation.stream(job)) : generation.generate(job)
  }

  /** `m` falls back on `n`, which costs ten times as much. */
  async function fallOver(run: () => AsyncIterable<StreamPart>, next: () => AsyncIterable<StreamPart>, credit: bigint) {
    await renew(credit, 1)
    offer(modelThat(run), { ...modelThat(next), id: 'n', price: { input: 10n, output: 10_000n } })
    const { signal } = new AbortController()
    const job = { requestId, request: { ...request, stream: true }, payer, allowedModels: null, signal }
    return Array.fromAsync(generation.stream(job))
  }

  async function charged() {
    const rows = await createLedger({ database }).page({ accountId: payer.accountId, limit: 10 })
    const account = await createAccounts({ database }).show(payer.accountId)
    assert.equal(account.held, 0n)
    return rows.map((row) => [row.inputTokens, row.outputTokens, row.cost])
  }

  it('a job that is stopped is charged what was generated, which is its stored reply', async () => {
    const stop = new AbortController()
    const job = await jobOf(true, untilStopped, undefined, { key: 'k', hash: 'h' })
    const steps: Step[] = []
    for await (const step of generation.stream({ ...job, stop: stop.signal })) {
      steps.push(step)
      if (step.kind === 'texts') stop.abort()
    }
    assert.deepEqual(valuesOf(steps, 'kind'), ['admitted', 'started', 'texts', 'reply'])
    assert.deepEqual(await charged(), [[10, 1, 1010n]])
    const [stored] = await database.rows<{ body: string }>(
      `select body from idempotency where account_id = $1 and key = 'k'`,
      [payer.accountId],
    )
    assert.deepEqual(JSON.parse(stored?.body ?? ''), {
      output_text: 'One',
      stop_reason: 'cancelled',
      usage: { input_tokens: 10, output_tokens: 1 },
    })
  })

  it('that is only counted states what the upper bound of its prompt costs', async () => {
    const job = await jobOf(false, working)
    offer({ ...modelThat(working), count: async () => ({ tokens: 10, most: 12, exact: false }) })
    const { inputTokens, maxCost } = await generation.count(job)
    assert.deepEqual([inputTokens, maxCost], [10, 12n * price.input + 20n * price.output])
  })

  it('A22 a stored reply is replayed while no model can count the request', async () => {
    await renew()
    let away = false
    const well = modelThat(working)
    offer({
      ...well,
      async count(...asked) {
        if (away) throw new Problem('unavailable', 'The model is not ready.')
        return well.count(...asked)
      },
    })
    const first = await ask('a')
    away = true
    for (const again of [await ask('a'), await ask('a', 'k', true)]) {
      assert.deepEqual([again.body, again.model, again.id], [first.body, first.model, first.id])
      assert.deepEqual([again.replayed, again.cost], [true, undefined])
      assert.equal(again.levels.tokens.limit, 100_000)
    }
    for (const [hash, key] of [
      ['b', 'k'],
      ['a', 'other'],
    ] as const) {
      for (const stream of [false, true]) await assert.rejects(ask(hash, key, stream), { code: 'unavailable' })
    }
    assert.equal((await charged()).length, 1)
    away = false
    assert.equal((await ask('a', 'other')).replayed, false, 'the refused request left nothing behind')
  })

  for (const stream of [false, true]) {
    describe(stream ? 'as a stream' : 'whole', () => {
      it('is charged for the used tokens', async () => {
        const reply = await generate(stream, async function* () {
          yield { kind: 'texts', texts: ['Hi'] }
          yield end(10, 2)
        })
        assert.equal(
          reply.body,
          '{"output_text":"Hi","stop_reason":"complete","usage":{"input_tokens":10,"output_tokens":2}}',
        )
        assert.deepEqual([reply.model, reply.cost, reply.id], ['m', '0.00000000201', requestId])
        assert.deepEqual(await charged(), [[10, 2, 2010n]])
      })

      it('reports cached tokens and cache writes by kind, and in the body as input, also in a replay', async () => {
        const idempotency = { key: 'k', hash: 'a' }
        const used = { inputTokens: 3, outputTokens: 2, cachedTokens: 5, cacheWriteTokens: 2 }
        const job = await jobOf(
          stream,
          async function* () {
            yield { kind: 'texts', texts: ['Hi'] }
            yield { kind: 'end', stopReason: 'complete', usage: { ...used, source: 'upstream' } }
          },
          undefined,
          idempotency,
        )
        const once = (each: Job) => (stream ? replyOf(generation.stream(each)) : generation.generate(each))
        const first = await once(job)
        const again = await once({ ...job, requestId: randomUUIDv7() })
        for (const { usage, body } of [first, again]) {
          assert.deepEqual(usage, used)
          assert.match(body, /"usage":\{"input_tokens":10,"output_tokens":2\}\}$/)
        }
        assert.deepEqual([first.replayed, again.replayed], [false, true])
        assert.deepEqual([first.cost, await charged()], ['0.00000000201', [[3, 2, 2010n]]])
      })

      it('A33 states what the till charged when a model uses more than was held', async () => {
        const reply = await generate(stream, async function* () {
          yield end(200_000, 20)
        })
        // The 10 that were held, and at most a full bucket.
        const [row] = await charged()
        assert.ok(Number(row?.[0]) > 10 && Number(row?.[0]) <= 100_010)
        assert.deepEqual([reply.usage.inputTokens, reply.usage.outputTokens], [row?.[0], row?.[1]])
        assert.match(reply.body, new RegExp(`"input_tokens":${row?.[0]},"output_tokens":${row?.[1]}`))
      })

      it('that fails with any error is not charged and leaves no hold', async () => {
        await assert.rejects(
          generate(stream, async function* () {
            yield { kind: 'texts', texts: ['Hi'] }
            throw new TypeError('a fault')
          }),
          TypeError,
        )
        assert.deepEqual(await charged(), [])
      })

      it('whose caller disconnected before the model was called is not charged, and the model is not called', async () => {
        let called = false
        const run = async function* () {
          called = true
          yield end(10, 1)
        }
        await assert.rejects(generate(stream, run, AbortSignal.abort()), Problem)
        assert.deepEqual([called, await charged()], [false, []])
      })

      it('whose caller disconnected ends before the service closes', async () => {
        const gone = new AbortController()
        const released = Promise.withResolvers<void>()
        let called = false
        const pending = generate(
          stream,
          async function* (signal) {
            called = true
            await new Promise((resolve) => signal.addEventListener('abort', resolve))
            await released.promise
            yield { ...end(10, 4), stopReason: 'cancelled' }
          },
          gone.signal,
        )
        await until(() => called)
        gone.abort()
        let settled = false
        const settling = generation.close().then(() => (settled = true))
        await settle()
        assert.equal(settled, false)
        released.resolve()
        await settling
        assert.deepEqual(await charged(), [[10, 4, 4010n]])
        await pending
      })
    })
  }

  for (const stream of [false, true]) {
    it(`A32 with an idempotency key is stopped uncharged by a close if its caller cannot receive it (${stream})`, async () => {
      const gone = new AbortController()
      let called = false
      const pending = generate(
        stream,
        async function* (signal) {
          called = true
          yield { kind: 'texts', texts: ['Hi'] }
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
          yield { ...end(10, 4), stopReason: 'cancelled' }
        },
        gone.signal,
        { key: 'k', hash: 'a' },
      )
      await until(() => called)
      gone.abort()
      await Promise.all([generation.close(), assert.rejects(pending, { code: 'unavailable' })])
      assert.deepEqual(await charged(), [])
    })
  }

  it('A32 with an idempotency key that breaks off is charged what its connected caller received', async () => {
    const job = await jobOf(true, breaking, new AbortController().signal, { key: 'k', hash: 'a' })
    const last = (await Array.fromAsync(generation.stream(job))).at(-1)
    assert.ok(last?.kind === 'broken')
    assert.deepEqual([last.reply.text, last.problem.code], ['Hi', 'upstream_failed'])
    assert.deepEqual(await charged(), [[10, 1, 1010n]])
  })

  it('that fails before its first text is not charged', async () => {
    const pending = generate(false, breaking)
    await assert.rejects(pending, { code: 'upstream_failed', message: /Nothing was charged/ })
    assert.deepEqual(await charged(), [])
  })

  describe('whose model fails before its first text', () => {
    it('is generated by the fallback, at its price, and takes one request from the limit', async () => {
      const steps = await fallOver(failing, working, 10n ** 12n)
      assert.deepEqual(
        steps.map((step) => (step.kind === 'admitted' || step.kind === 'started' ? step.model : step.kind)),
        ['m', 'n', 'texts', 'reply'],
      )
      const last = steps.at(-1)
      assert.ok(last?.kind === 'reply')
      assert.equal(last.reply.model, 'n')
      assert.equal(last.reply.levels.requests.remaining, 0)
      assert.deepEqual(await charged(), [[10, 2, 20_100n]])
    })

    it('fails as the first model did if the credit does not cover the fallback, and leaves no hold', async () => {
      await assert.rejects(fallOver(failing, working, 50_000n), { code: 'upstream_failed' })
      assert.deepEqual(await charged(), [])
    })

    it('fails when all models have failed, each called once', async () => {
      let calls = 0
      const counting = () => {
        calls++
        return failing()
      }
      await assert.rejects(fallOver(counting, counting, 10n ** 12n), { code: 'upstream_failed' })
      assert.deepEqual([calls, await charged()], [2, []])
    })

    it('is not sent to the fallback after the first text', async () => {
      let called = false
      const next = () => {
        called = true
        return working()
      }
      const last = (await fallOver(breaking, next, 10n ** 12n)).at(-1)
      assert.ok(last?.kind === 'broken')
      assert.deepEqual([last.reply.text, last.reply.stopReason, last.problem.code], ['Hi', 'error', 'upstream_failed'])
      assert.deepEqual([called, await charged()], [false, [[10, 1, 1010n]]])
    })
  })
})
