import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  callAddresses,
  callDialects,
  callPieces,
  pieceIn,
  vendorCall,
  type CallAddress,
} from '../support/call-dialects.ts'
import { isEndure } from '../support/draws.ts'
import { readEvents, type ReceivedEvent } from '../support/events.ts'
import { createGate } from '../support/gate.ts'
import { startService, upstreamModel, type Service } from '../support/service.ts'
import { startVendor, type Vendor } from '../support/vendor.ts'

/** Models that fail before and within a call of a tool. Each has its own upstream, because one that fails often is skipped. */

const faults = ['reset', 'early_end', 'error_event'] as const
/** Pieces of the call before the fault: none, the name of the tool, and the name with one and with three pieces of arguments. */
const places = [0, 1, 2, 4] as const
/** The first pieces, of which the caller receives nothing: the name of a tool is sent with its first arguments. */
const withheld = 1

interface Case {
  readonly model: string
  readonly address: CallAddress
  readonly fault: (typeof faults)[number]
  readonly place: (typeof places)[number]
}
/** Each fault in each dialect; in `npm test` each in one. */
const cases: readonly Case[] = callAddresses.flatMap((address, index) =>
  faults
    .filter((_, each) => isEndure || each === index)
    .flatMap((fault) =>
      places.map((place) => ({
        model: `model${address.replaceAll('/', '-')}-${fault}-${place}`,
        address,
        fault,
        place,
      })),
    ),
)

let working: Vendor
let service: Service
const failing = new Map<string, Vendor>()
before(async () => {
  working = await startVendor({ calls: [vendorCall] })
  for (const { model } of cases) failing.set(model, await startVendor())
  const price = { input: '1.50', output: '6.00' }
  service = await startService({
    models: [
      ...[...failing].map(([id, { url }]) => upstreamModel(url, { id, fallback: 'dear' })),
      upstreamModel(working.url, { id: 'dear', price }),
    ],
  })
})
after(async () => {
  await service.close()
  await Promise.all([working, ...failing.values()].map((vendor) => vendor.close()))
})

/** Asks a model, which sends each piece of the call when the one before has arrived. */
async function ask({ model, address, fault, place }: Case, key: string) {
  const gate = createGate()
  const vendor = failing.get(model) ?? assert.fail(model)
  vendor.set({ calls: [vendorCall], fault, after: place, gate: gate.pass, usageOn: 'none' })
  gate.open(place)
  const response = fetch(`${service.url}${address}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...callDialects[address], stream: true }),
  })
  if (place <= withheld) gate.open()
  const events: ReceivedEvent[] = []
  let arrived = 0
  for await (const event of readEvents(await response)) {
    events.push(event)
    if (pieceIn(event) !== undefined) arrived++
    if (arrived > 0) gate.open(arrived + withheld >= place ? undefined : arrived + withheld + 1)
  }
  const received = events.flatMap((event) => pieceIn(event) ?? [])
  return { served: (await response).headers.get('x-model'), received, all: events.map(({ data }) => data).join('\n') }
}

describe('a model that fails', () => {
  for (const each of cases) {
    const { address, fault, place, model } = each
    if (place <= withheld) {
      it(`A13 before the arguments of a call, after ${place} pieces (${fault}), is replaced by its fallback, for one charge; ${address}`, async () => {
        const { accountId, key } = await service.customer()
        const { served, received, all } = await ask(each, key)
        assert.deepEqual([served, received.join('')], ['dear', vendorCall.input])
        assert.doesNotMatch(all, /"error":\{/)
        const { rows, holds, charged } = await service.books(accountId)
        assert.deepEqual(
          rows.map((row) => [row.model, row.stopReason, row.cost]),
          [['dear', 'complete', 36_000_000n]],
        )
        assert.deepEqual([holds, charged], [0, 36_000_000n])
      })
      continue
    }
    it(`A13 within a call, after ${place} pieces (${fault}), is not replaced; ${address}`, async () => {
      const { accountId, key } = await service.customer()
      const { calls } = working
      const { served, received, all } = await ask(each, key)
      assert.deepEqual([served, received], [model, callPieces.slice(0, place - 1)])
      assert.match(all, /"error":\{.*received so far was charged/)
      assert.equal(working.calls, calls)
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual(
        rows.map((row) => [row.model, row.stopReason, row.outputTokens]),
        [[model, 'error', place]],
      )
      assert.equal(holds, 0)
    })
  }
})
