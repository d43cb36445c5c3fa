import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readEvents } from '../support/events.ts'
import { at } from '../support/json.ts'
import type { Answer } from '../support/answer.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { shippedModel, startService } from '../support/service.ts'
import { ok } from '../support/answer.ts'

const service = fixture(() => startService({ models: [shippedModel()] }))
const customer = fixture(() => service.customer())
setUp(() => service.untilReady())

const text =
  'Meeting on 12 March 2026 with Anna Berg of Berg & Sons. We agreed a fixed fee of $4,800 for the annual accounts.'
const messages = [{ role: 'user', content: text }]

/** The same request in each dialect, and where its response has the text and the stop reason. */
const dialects = {
  '/v1/generate': {
    body: { input: text, max_output_tokens: 48 },
    stop: (stop: string) => ({ stop: [stop] }),
    text: ['output_text'],
    reason: ['stop_reason'],
    stopped: 'stop_sequence',
  },
  '/v1/chat/completions': {
    body: { messages, max_tokens: 48 },
    stop: (stop: string) => ({ stop }),
    text: ['choices', 0, 'message', 'content'],
    reason: ['choices', 0, 'finish_reason'],
    stopped: 'stop',
  },
  '/v1/messages': {
    body: { messages, max_tokens: 48 },
    stop: (stop: string) => ({ stop_sequences: [stop] }),
    text: ['content', 0, 'text'],
    reason: ['stop_reason'],
    stopped: 'stop_sequence',
  },
  '/v1/responses': {
    body: { input: text, max_output_tokens: 48 },
    stop: undefined,
    text: ['output', 0, 'content', 0, 'text'],
    reason: ['status'],
    stopped: undefined,
  },
} as const
type Address = keyof typeof dialects
const addresses: readonly Address[] = ['/v1/generate', '/v1/chat/completions', '/v1/messages', '/v1/responses']

async function ask(address: Address, more: object = {}): Promise<Answer> {
  const body = { model: 'tiny', ...dialects[address].body, ...more }
  const answer = ok(await service.call(address, customer.key, body))
  return answer
}

const textOf = (address: Address, { json }: Answer) => String(at(json, ...dialects[address].text))
const say = async (more: object = {}, address: Address = '/v1/generate') => textOf(address, await ask(address, more))

describe('the output', () => {
  it('is greedy at temperature 0, the default: identical in every dialect, with any seed', async () => {
    const greedy = await say()
    assert.ok(greedy.length > 50, greedy)
    for (const address of addresses) {
      assert.equal(await say({}, address), greedy, address)
      assert.equal(await say({ temperature: 0 }, address), greedy, address)
    }
    assert.equal(await say({ temperature: 0, seed: 7 }), greedy)
    assert.equal(await say({ temperature: 0, seed: 8, top_p: 0.5 }, '/v1/chat/completions'), greedy)
  })

  it('is the same at temperature 0 whether alone or among seven others, whole or streamed', async () => {
    const alone = await say()
    const others = Array.from({ length: 7 }, (_, index) => say({ input: `Other ${index}. ${text}`, temperature: 1 }))
    const response = await service.post('/v1/generate', customer.key, {
      model: 'tiny',
      ...dialects['/v1/generate'].body,
      stream: true,
    })
    const deltas: unknown[] = []
    for await (const { name, data } of readEvents(response)) {
      if (name === 'output_text.delta') deltas.push(at(JSON.parse(data), 'delta'))
    }
    assert.equal(deltas.join(''), alone)
    await Promise.all(others)
    const crowd = await Promise.all(Array.from({ length: 8 }, () => say()))
    assert.deepEqual(new Set(crowd), new Set([alone]))
  })

  it('varies at a higher temperature, and is the same with the same seed', async () => {
    for (const address of ['/v1/generate', '/v1/chat/completions'] as const) {
      const seeded = await say({ temperature: 2, seed: 7 }, address)
      assert.equal(await say({ temperature: 2, seed: 7 }, address), seeded)
      // A confident model often repeats itself.
      const [others, unseeded] = [new Set([seeded]), new Set<string>()]
      for (const seed of [8, 9, 10, 11, 12, 13]) {
        others.add(await say({ temperature: 2, seed }, address))
        unseeded.add(await say({ temperature: 2 }, address))
      }
      assert.ok(others.size > 1, 'the seed decides')
      assert.ok(unseeded.size > 1, 'without a seed they are not all alike')
    }
    const seeds = [0, 1, 4_294_967_294, 4_294_967_295]
    for (const seed of seeds) assert.equal(await say({ temperature: 1, seed }), await say({ temperature: 1, seed }))
  })

  it('is nearly greedy with a very small top_p', async () => {
    const greedy = await say()
    assert.equal(await say({ temperature: 1.5, top_p: 0.000001 }), greedy)
    assert.equal(await say({ temperature: 1, top_p: 0.000001 }, '/v1/messages'), greedy)
  })
})

describe('a stop sequence', () => {
  for (const address of addresses) {
    const { stop, stopped, reason } = dialects[address]
    if (!stop) continue
    it(`ends a reply of ${address} before the sequence, and the stop reason says so`, async () => {
      const whole = await say()
      for (const [from, length] of [
        [8, 1],
        [20, 12],
      ] as const) {
        const sequence = whole.slice(from, from + length)
        const answer = await ask(address, stop(sequence))
        assert.equal(textOf(address, answer), whole.slice(0, whole.indexOf(sequence)))
        assert.equal(at(answer.json, ...reason), stopped)
        if (address === '/v1/messages') assert.equal(answer.json['stop_sequence'], sequence)
      }
      assert.equal(textOf(address, await ask(address, stop('~~~'))), whole)
    })
  }
})
