import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import {
  callAddresses,
  callDialects,
  callPieces as pieces,
  pieceIn,
  vendorCall as call,
  type CallAddress,
} from '../support/call-dialects.ts'
import { isEndure } from '../support/draws.ts'
import { readEvents, type ReceivedEvent } from '../support/events.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { fixture } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import type { VendorOptions } from '../support/vendor-options.ts'
import { startVendor } from '../support/vendor.ts'

/** Streams that are interrupted within the arguments of a call. */

const vendor = fixture(() => startVendor())
const service = fixture(() =>
  startService({
    models: [
      upstreamModel(vendor.url),
      upstreamModel(vendor.url, {
        id: 'claude',
        engine: 'ai-sdk',
        endpoints: undefined,
        package: '@ai-sdk/anthropic',
        url: vendor.url,
        key: 'sk-vendor',
      }),
    ],
  }),
)

type Sending = Parameters<typeof service.post>[3]

const post = (address: CallAddress, model: string, key: string, more: object = {}, sending: Sending = {}) =>
  service.post(address, key, { model, ...callDialects[address], stream: true, ...more }, sending)

/** A gate that is open for the name of the tool and the first piece of its arguments. */
function gateAtPiece(): Gate {
  const gate = createGate()
  gate.open(2)
  return gate
}

/** Reads events, and lets the vendor send each piece of the arguments when the one before has arrived. */
async function* readStepwise(response: Response, gate: Gate): AsyncGenerator<ReceivedEvent, void, void> {
  let arrived = 0
  for await (const event of readEvents(response)) {
    if (pieceIn(event) !== undefined) arrived++
    yield event
    gate.open(2 + arrived)
  }
}

async function withVendor(options: VendorOptions, work: () => Promise<void>): Promise<void> {
  vendor.set(options)
  try {
    await work()
  } finally {
    vendor.set({})
  }
}

// Several failures in a row would open the breaker of a model.
afterEach(async () => {
  const { key } = await service.customer()
  for (const model of ['fast', 'claude']) {
    const { status, text } = await service.call('/v1/generate', key, { model, input: 'Hello', max_output_tokens: 100 })
    assert.equal(status, 200, text)
  }
})

/** Asserts one row with this end and this many tokens of output, charged exactly, and no hold. */
async function assertCharged(accountId: string, stopReason: string, outputTokens: number): Promise<void> {
  const { rows, holds, held, charged } = await service.books(accountId)
  const [row] = rows
  assert.deepEqual([rows.length, row?.stopReason, row?.outputTokens], [1, stopReason, outputTokens])
  assert.deepEqual([holds, held], [0, 0n])
  const inputTokens = BigInt(row?.inputTokens ?? 0)
  assert.ok(inputTokens > 0n)
  assert.equal(charged, inputTokens * 150_000n + BigInt(outputTokens) * 600_000n)
}

/** What reads a stream is tested with all of them beside its code. */
const faults = isEndure
  ? (['reset', 'early_end', 'half_stream', 'malformed_event', 'error_event'] as const)
  : (['early_end'] as const)

const isEnd = /\[DONE\]|message_stop|response\.completed|function_call_arguments\.done|"finish_reason":"/
const textOf = (event: ReceivedEvent | undefined) => event?.data ?? ''

/** In `npm test` each dialect with one engine. */
const enginesOf = (address: CallAddress) => {
  if (isEndure) return ['fast', 'claude']
  return address === '/v1/responses' ? ['claude'] : ['fast']
}

for (const address of callAddresses) {
  for (const model of enginesOf(address)) {
    describe(`${address} with a call by ${model}`, () => {
      for (const fault of faults) {
        it(`A14 an upstream that breaks off within the arguments (${fault}) is an error, and what was sent is charged`, async () => {
          const { accountId, key } = await service.customer()
          const gate = gateAtPiece()
          const asked = vendor.calls
          await withVendor({ calls: [call], fault, after: 5, gate: gate.pass, usageOn: 'none' }, async () => {
            const events = await Array.fromAsync(readStepwise(await post(address, model, key), gate))
            const received = events.flatMap((event) => pieceIn(event) ?? [])
            assert.deepEqual(received, pieces.slice(0, 4))
            assert.match(textOf(events.at(-1)), /"error":\{.*received so far was charged/)
            assert.ok(events.every(({ data }) => !isEnd.test(data)))
            assert.doesNotMatch(events.map(textOf).join(''), /private words/)
          })
          // The name of the tool, and four pieces of its arguments.
          await assertCharged(accountId, 'error', 5)
          assert.equal(vendor.calls, asked + 1)
        })
      }

      it('A14 arguments that are not JSON are an error at the end of a stream, charged as reported', async () => {
        const { accountId, key } = await service.customer()
        const broken = { ...call, input: pieces.slice(0, 3).join(''), pieces: pieces.slice(0, 3) }
        const usage = { prompt_tokens: 12, completion_tokens: 7 }
        await withVendor({ calls: [broken], usage }, async () => {
          const events = await Array.fromAsync(readEvents(await post(address, model, key)))
          assert.deepEqual(
            events.flatMap((event) => pieceIn(event) ?? []),
            broken.pieces,
          )
          assert.match(textOf(events.at(-1)), /"error":\{.*received so far was charged/)
          assert.ok(events.every(({ data }) => !isEnd.test(data)))
        })
        await assertCharged(accountId, 'error', 7)
      })
    })
  }
}

describe('a whole reply whose arguments are not JSON', () => {
  for (const address of callAddresses) {
    it(`A14 ${address} is refused, is charged nothing, and can be sent again with the same key`, async () => {
      const { accountId, key } = await service.customer()
      const send = () => post(address, 'fast', key, { stream: false }, { headers: { 'idempotency-key': 'k' } })
      await withVendor({ calls: [{ ...call, input: '{"zones":[' }] }, async () => {
        const refused = await send()
        assert.equal(refused.status, 502)
        assert.match(
          await refused.text(),
          /called a tool with arguments that are not a JSON object. Nothing was charged/,
        )
      })
      const { rows, holds, charged } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, charged], [0, 0, 0n])
      await withVendor({ calls: [call] }, async () => {
        const again = await send()
        assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, null])
        await again.text()
      })
      await assertCharged(accountId, 'complete', 3)
    })
  }
})
