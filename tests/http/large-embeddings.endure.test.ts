import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { at, listAt } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { http, startRawUpstream, type Behaviour } from '../support/raw-upstream.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startEmbeddingVendor } from '../support/vendor-embeddings.ts'

const vendor = fixture(() => startEmbeddingVendor())
const raw = fixture(() => startRawUpstream())
const service = fixture(() =>
  startService({
    models: [
      model('vectors', vendor.url),
      ...Object.keys(faults).map((name) => model(name, vendor.url)),
      ...Object.keys(interruptions).map((name) => model(name, raw.url)),
      model('slow', raw.url),
    ],
  }),
)
setUp(() => service.untilReady())

const model = (name: string, url: string) => ({
  id: idOf(name),
  engine: 'openai',
  kind: 'embeddings',
  endpoints: [{ url }],
  upstream_model: 'm',
  context: 8192,
  price: { input: '0.02' },
})

const texts = 2048
const input = Array.from({ length: texts }, () => 'One')
const tokens = 2 * texts
/** Each fault has a model of its own, whose circuit breaker counts no other failures. */
const idOf = (name: string): string => name.replaceAll(/[^a-z]/gi, '-')

/** Numbers that JSON writes with all of their digits. */
const doubles = (seed: number): number[] =>
  Array.from({ length: 64 }, (_, place) => Math.sin(seed * 64 + place) * 10 ** ((place % 40) - 20))
const base64 = (numbers: readonly number[]): string => Buffer.from(new Float32Array(numbers).buffer).toString('base64')

const forms = {
  numbers: { written: doubles, numbers: doubles },
  base64: {
    written: (seed: number) => base64(doubles(seed)),
    numbers: (seed: number) => [...new Float32Array(doubles(seed))],
  },
}

const itemsOf = (written: (seed: number) => unknown) =>
  input.map((_, index) => ({ object: 'embedding', index, embedding: written(index) }))
const answerOf = (items: readonly unknown[]): string =>
  JSON.stringify({ object: 'list', data: items, model: 'm', usage: { prompt_tokens: tokens, total_tokens: tokens } })

/** What is wrong with a large answer, from one that is right. The last embedding is `[0.25,0.5]`. */
const faults: Readonly<Record<string, (answer: string) => string>> = {
  'one vector too few': (answer) => answer.replace(/,\{"object":"embedding","index":2047[^}]*\}/, ''),
  'one vector too many': (answer) =>
    answer.replace(/(\{"object":"embedding","index":)2047([^}]*\})/, '$12047$2,$12048$2'),
  'a text twice': (answer) => answer.replace('"index":2047', '"index":2046'),
  'something other than objects': (answer) => answer.replace('{"object":"embedding","index":0,', '7,{'),
  'a shorter vector': (answer) => answer.replace('[0.25,0.5]', '[0.25]'),
  'an empty vector': (answer) => answer.replace('[0.25,0.5]', '[]'),
  'text in place of a number': (answer) => answer.replace('[0.25,0.5]', '[0.25,"a"]'),
  'an infinite number': (answer) => answer.replace('[0.25,0.5]', '[0.25,1e999]'),
  'base64 of an infinite number': (answer) => answer.replace('[0.25,0.5]', '"AACAfwAAgH8="'),
  'a number that is not JSON': (answer) => answer.replace('[0.25,0.5]', '[0.25,.5]'),
  'a vector that is not closed': (answer) => answer.replace('[0.25,0.5]', '[0.25,0.5'),
  'two vectors without a comma': (answer) => answer.replace('},{', '}{'),
  'no end': (answer) => answer.slice(0, -1),
  'two ends': (answer) => `${answer}}`,
  'no list': (answer) => answer.replace('"data"', '"vectors"'),
  'too much beside the vectors': (answer) => answer.replace('"model"', `"more":"${'x'.repeat(300_000)}","model"`),
  'a vector that is too long': (answer) => answer.replace('[0.25,0.5]', `[${'1,'.repeat(65_536)}1]`),
  'too many bytes for a vector': (answer) => answer.replace('[0.25,0.5]', `[${' '.repeat(600_000)}0.25,0.5]`),
}

/** Answers that do not arrive as a whole. */
const interruptions: Readonly<Record<string, Behaviour>> = {
  'is cut off': (socket) => {
    const whole = http(answerOf(itemsOf(doubles)))
    socket.end(whole.subarray(0, whole.length / 2))
  },
  'never ends': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"data":[')
    const items = '{"embedding":[0.5,0.25]},'.repeat(1000)
    const more = (error?: Error | null): void => {
      if (!error && !socket.destroyed) socket.write(items, more)
    }
    more()
  },
}

describe('Embeddings of 2048 texts', () => {
  for (const [form, { written, numbers }] of Object.entries(forms)) {
    it(`are exact when the upstream writes ${form}`, async () => {
      const { accountId, key } = await service.customer()
      vendor.answer = () => ({ status: 200, body: answerOf(itemsOf(written)) })
      for (const [encoding_format, expected] of [
        ['float', numbers],
        ['base64', (seed: number) => base64(doubles(seed))],
      ] as const) {
        const { status, json } = await service.call('/v1/embeddings', key, { model: 'vectors', input, encoding_format })
        assert.equal(status, 200)
        const items = listAt(json, 'data')
        assert.equal(items.length, texts)
        // One by one, because it would take minutes to show how the lists differ.
        for (const [place, item] of itemsOf(expected).entries()) assert.deepEqual(items[place], item)
        assert.equal(at(json, 'usage', 'prompt_tokens'), tokens)
      }
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.map(({ inputTokens }) => inputTokens), holds], [[tokens, tokens], 0])
    })
  }

  for (const [name, spoil] of Object.entries(faults)) {
    it(`charge nothing for an answer with ${name}`, async () => {
      const whole = answerOf(itemsOf((index) => (index === texts - 1 ? [0.25, 0.5] : [index, 0.5])))
      const answer = spoil(whole)
      assert.notEqual(answer, whole)
      vendor.answer = () => ({ status: 200, body: answer })
      const called = vendor.calls.length
      await assertFailure(name)
      assert.equal(vendor.calls.length, called + 1, 'not repeated')
    })
  }

  it('are charged by an estimate when the caller disconnects while they arrive, and their connection is closed', async () => {
    const { accountId, key } = await service.customer()
    const whole = http(answerOf(itemsOf(doubles)))
    raw.behave((socket) => void socket.write(whole.subarray(0, whole.length / 2)))
    const [called, left] = [raw.requests, new AbortController()]
    const asked = service.post('/v1/embeddings', key, { model: 'slow', input }, { signal: left.signal })
    await until(() => raw.requests === called + 1)
    left.abort()
    await assert.rejects(asked)
    await until(async () => (await service.books(accountId)).rows.length === 1)
    const { rows, holds } = await service.books(accountId)
    const [row] = rows
    assert.deepEqual([row?.inputTokens, holds], [Math.ceil((texts * 'One'.length) / 4), 0])
    await until(() => raw.connections === 0)
  })

  for (const [name, behaviour] of Object.entries(interruptions)) {
    it(`charge nothing for an answer that ${name}, and close its connection`, async () => {
      raw.behave(behaviour)
      const called = raw.requests
      await assertFailure(name)
      assert.equal(raw.requests, called + 1, 'not repeated')
      await until(() => raw.connections === 0)
    })
  }
})

async function assertFailure(name: string): Promise<void> {
  const { accountId, key } = await service.customer()
  const { status, error } = await service.call('/v1/embeddings', key, { model: idOf(name), input })
  assert.deepEqual([status, error['type'], error['code']], [502, 'server_error', 'upstream_failed'])
  const { rows, holds } = await service.books(accountId)
  assert.deepEqual([rows.length, holds], [0, 0])
}
