import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Caller } from '../accounts/keys.ts'
import type { Catalogue, Offer } from '../models/catalogue.ts'
import { Problem } from '../platform/problems.ts'
import { firstBid, nextBid, type Bidding } from './bids.ts'
import type { TextRequest } from './request.ts'

const request: TextRequest = {
  model: 'a',
  stream: true,
  prompt: { messages: [{ role: 'user', text: 'Hello' }] },
  maxOutputTokens: 20,
  names: { maxOutputTokens: 'max_output_tokens', input: 'input' },
}
const caller: Caller = { publicId: 'key', accountId: 'account', keyId: 'key', allowedModels: null }
const down = new Problem('unavailable', 'It is away.')
const price = { input: 1n, output: 2n }

interface Sketch {
  readonly fallback?: string
  readonly most?: number
  readonly context?: number
  readonly fails?: Error
}

/** Models that count 10 tokens, or fail at it. */
function catalogueOf(models: Readonly<Record<string, Sketch>>): Catalogue {
  const offerOf = (id: string, { fallback, most = 50, context = 100, fails }: Sketch): Offer => ({
    model: {
      id,
      contextTokens: context,
      maxOutputTokens: most,
      count: async () => {
        if (fails) throw fails
        return { tokens: 10, exact: true }
      },
      run: () => assert.fail('nobody runs it'),
      stream: () => assert.fail('nobody runs it'),
      health: () => ({ ready: true }),
      close: async () => {},
    },
    price,
    aliases: [],
    createdAt: 0,
    fallback,
  })
  const offers = new Map(Object.entries(models).map(([id, sketch]) => [id, offerOf(id, sketch)]))
  return {
    find: (name) => {
      const found = offers.get(name)
      if (found) return found
      throw new Problem('unknown_model', 'There is none.')
    },
    list: () => [...offers.values()],
    close: async () => {},
  }
}

const biddingOf = (asked: TextRequest, who = caller, signal = new AbortController().signal): Bidding => ({
  caller: who,
  request: asked,
  signal,
  asked: [],
  requestId: 'r',
})

/** The ids that are bid one after the other while each fails with `error`. */
async function sequence(
  models: Readonly<Record<string, Sketch>>,
  error: unknown = down,
  who = caller,
  asked = request,
) {
  const [catalogue, bidding] = [catalogueOf(models), biddingOf(asked, who)]
  const ids: string[] = []
  for (let bid = await firstBid(catalogue, bidding); ;) {
    ids.push(bid.offer.model.id)
    const next = await nextBid(catalogue, bidding, bid.offer, error)
    if (!next) return ids
    bid = next
  }
}

describe('the models that may serve a request', () => {
  it('are the one it names and, one after the other, those to fall back on; each once', async () => {
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { fallback: 'c' }, c: {} }), ['a', 'b', 'c'])
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { fallback: 'a' } }), ['a', 'b'])
    assert.deepEqual(await sequence({ a: { fallback: 'a' } }), ['a'])
  })

  it('are asked for only where another model may do what this one did not', async () => {
    const models = { a: { fallback: 'b' }, b: {} }
    for (const code of ['upstream_failed', 'upstream_timeout', 'unavailable', 'overloaded'] as const) {
      assert.deepEqual(await sequence(models, new Problem(code, 'x')), ['a', 'b'], code)
    }
    for (const error of [new Problem('context_length_exceeded', 'x'), new TypeError('a fault')]) {
      assert.deepEqual(await sequence(models, error), ['a'])
    }
  })

  it('are none that the caller may not use, or that cannot take the request', async () => {
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: {} }, down, { ...caller, allowedModels: ['a'] }), ['a'])
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { most: 19 } }), ['a'])
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { context: 29 } }), ['a'])
    assert.deepEqual(await sequence({ a: { fallback: 'none' } }), ['a'])
  })

  it('begin with the first that can count', async () => {
    assert.deepEqual(await sequence({ a: { fallback: 'b', fails: down }, b: {} }), ['b'])
    assert.deepEqual(await sequence({ a: { fallback: 'b' }, b: { fallback: 'c', fails: down }, c: {} }), ['a', 'c'])
    await assert.rejects(sequence({ a: { fails: down } }), down)
  })

  it('are no more when the caller has gone', async () => {
    const catalogue = catalogueOf({ a: { fallback: 'b' }, b: {} })
    const bidding = biddingOf(request, caller, AbortSignal.abort())
    assert.equal(await nextBid(catalogue, bidding, (await firstBid(catalogue, bidding)).offer, down), undefined)
  })

  it('give as much as they can where nothing is said of the length', async () => {
    const open = { ...request, maxOutputTokens: undefined }
    const most = async (sketch: Sketch) => (await firstBid(catalogueOf({ a: sketch }), biddingOf(open))).maxOutputTokens
    assert.equal(await most({}), 50)
    assert.equal(await most({ context: 40 }), 30)
    await assert.rejects(most({ context: 10 }), { code: 'context_length_exceeded' })
  })
})
