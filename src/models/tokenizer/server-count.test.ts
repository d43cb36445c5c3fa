import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after, beforeEach, describe, test } from 'node:test'
import { stopClock } from '../../../tests/support/clock.ts'
import { at, parseObject, type Json } from '../../../tests/support/json.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { serve } from '../../../tests/support/server.ts'
import { until } from '../../../tests/support/until.ts'
import type { Prompt } from '../model.ts'
import { createCountingThread } from './counting-thread.ts'
import { byteTokenizer, createTokenizer, type TokenizerNeeds } from './tokenizer.ts'

interface Asked {
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: Json
}

type Behaviour = (response: ServerResponse, asked: Asked) => void

const json =
  (value: unknown): Behaviour =>
  (response) =>
    void response.end(JSON.stringify(value))
const refuse =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end('{"error":{"message":"Grüß Gott is refused"}}')

let asked: Asked[] = []
let behave: Behaviour = json({})
const server = await serve((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  request.on('end', () => {
    const one = { url: request.url, headers: request.headers, body: parseObject(text) }
    asked.push(one)
    behave(response, one)
  })
})
const url = `${server.url}/v1`

const thread = createCountingThread()
const { log, text: logged } = createTestLog()
const open = (setting: string, needs: Partial<TokenizerNeeds> = {}) =>
  createTokenizer({
    setting,
    margin: 2,
    upstreamModel: 'm',
    sendsSignatures: true,
    endpoints: [{ url, key: 'sk-secret' }],
    connect: 10_000,
    thread,
    log,
    ...needs,
  })

const prompt: Prompt = {
  messages: [
    { role: 'system', text: 'Be brief.' },
    { role: 'user', text: 'Grüß Gott' },
  ],
}
const fallback = await byteTokenizer.count(prompt, {})
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Grüß Gott' },
]

const shows = ({ body }: Asked) => body['tools'] !== undefined

beforeEach(() => {
  asked = []
})
after(async () => {
  await server.close()
  await thread.close()
})

describe("the server's own count", () => {
  test('vLLM counts the messages in its chat template', async () => {
    behave = json({ count: 150, max_model_len: 4096, tokens: [1, 2, 3] })
    assert.deepEqual(await open('vllm').count(prompt), { exact: false, tokens: 150, most: 153 })
    assert.deepEqual(
      asked.map((one) => [one.url, one.body, one.headers.authorization]),
      [['/tokenize', { model: 'm', messages }, 'Bearer sk-secret']],
    )
  })

  test('llama-server renders its chat template and counts the result', async () => {
    behave = (response, { url: path }) =>
      json(path === '/apply-template' ? { prompt: '<rendered>' } : { tokens: Array(50).fill(7) })(response, asked[0]!)
    assert.deepEqual(await open('llama-server').count(prompt), { exact: false, tokens: 50, most: 51 })
    assert.deepEqual(
      asked.map((one) => [one.url, one.body]),
      [
        ['/apply-template', { messages }],
        ['/tokenize', { content: '<rendered>', add_special: true, parse_special: true }],
      ],
    )
  })

  describe('of tools', () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } }
    const calling: Prompt = {
      messages: [
        { role: 'user', text: 'How is the weather?' },
        { role: 'assistant', parts: [{ kind: 'call', id: 'c1', tool: 'weather', input: '{"city":"Rome"}' }] },
        { role: 'user', parts: [{ kind: 'result', callId: 'c1', content: [{ kind: 'text', text: 'Dry' }] }] },
      ],
      tools: [{ name: 'weather', parameters, field: 'tools[0].parameters' }],
    }
    const asTools = {
      messages: [
        { role: 'user', content: 'How is the weather?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'Dry' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', parameters } }],
    }
    const asText = {
      messages: [
        { role: 'user', content: 'How is the weather?' },
        { role: 'assistant', content: 'weather {"city":"Rome"}' },
        { role: 'user', content: 'Dry' },
        { role: 'system', content: JSON.stringify([{ name: 'weather', parameters }]) },
      ],
    }
    const isText = ({ body }: Asked) => JSON.stringify(body['messages']) === JSON.stringify(asText.messages)

    test('vLLM gets them as tools', async () => {
      behave = (response, one) => json({ count: shows(one) ? 150 : 100 })(response, one)
      assert.equal((await open('vllm').count(calling)).tokens, 150)
      assert.deepEqual(asked.find(shows)?.body, { model: 'm', ...asTools })
      assert.ok(!asked.some(isText))
    })

    test('llama-server gets them as tools', async () => {
      behave = (response, one) =>
        json(
          one.url === '/apply-template'
            ? { prompt: shows(one) ? '<tools>' : '<none>' }
            : { tokens: Array(one.body['content'] === '<tools>' ? 60 : 1).fill(7) },
        )(response, one)
      assert.equal((await open('llama-server').count(calling)).tokens, 60)
      assert.deepEqual(asked.find(shows)?.body, asTools)
      assert.ok(!asked.some(isText))
    })

    for (const setting of ['vllm', 'llama-server']) {
      const answer = (one: Asked) => {
        if (one.url === '/apply-template') return { prompt: isText(one) ? '<text>' : '<none>' }
        const tokens = isText(one) || one.body['content'] === '<text>' ? 90 : 10
        return { count: tokens, tokens: Array(tokens).fill(7) }
      }

      test(`${setting} gets them as text if it ignores them`, async () => {
        behave = (response, one) => json(answer(one))(response, one)
        assert.equal((await open(setting).count(calling)).tokens, 90)
      })

      for (const status of [400, 500]) {
        test(`${setting} gets them as text if it refuses them with ${status}`, async () => {
          behave = (response, one) => (shows(one) ? refuse(status) : json(answer(one)))(response, one)
          assert.equal((await open(setting).count(calling)).tokens, 90)
          assert.equal(asked.filter(shows).length, 1)
        })
      }
    }

    test('a schema of the reply and files are counted as text', async () => {
      behave = json({ count: 90 })
      const format = { kind: 'schema', name: 'a', schema: {}, field: 'x' } as const
      await open('vllm').count({ ...calling, format })
      const image = {
        kind: 'file',
        mediaType: 'image/png',
        data: 'AAAA',
        extent: { width: 9, height: 9 },
        field: 'x',
      } as const
      await open('vllm').count({ ...calling, messages: [...calling.messages, { role: 'user', parts: [image] }] })
      assert.deepEqual([asked.length, asked.some(shows)], [2, false])
      assert.doesNotMatch(JSON.stringify(asked), /AAAA/)
    })

    test('a caller who disconnects ends the count', async () => {
      behave = () => undefined
      const leaving = new AbortController()
      const counted = open('vllm').count(calling, { signal: leaving.signal })
      await until(() => asked.length === 2)
      leaving.abort()
      await assert.rejects(counted, { code: 'malformed_request' })
      assert.equal(asked.length, 2)
    })
  })

  test('Anthropic counts messages and the system text separately', async () => {
    behave = json({ input_tokens: 20 })
    assert.deepEqual(await open('anthropic').count(prompt), { exact: false, tokens: 20, most: 21 })
    await open('anthropic').count({ messages: [{ role: 'user', text: 'Hello' }] })
    const [first, second] = asked
    assert.equal(first?.url, '/v1/messages/count_tokens')
    assert.deepEqual(first?.body, {
      model: 'm',
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'Grüß Gott' }],
    })
    assert.deepEqual(second?.body, { model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
    assert.deepEqual(
      [first?.headers['x-api-key'], first?.headers['anthropic-version'], first?.headers.authorization],
      ['sk-secret', '2023-06-01', undefined],
    )
  })

  test('images are counted by their rule, except by Anthropic, which counts them itself', async () => {
    const image = {
      kind: 'file',
      mediaType: 'image/png',
      data: 'AAAA',
      extent: { width: 280, height: 56 },
      field: 'x',
    } as const
    const shown: Prompt = { messages: [{ role: 'user', parts: [image, { kind: 'text', text: 'What is it?' }] }] }
    behave = json({ count: 100 })
    // 255 tokens is the price of one tile, which exceeds that of 20 squares.
    assert.deepEqual(await open('vllm').count(shown), { exact: false, tokens: 355, most: 363 })
    behave = (response, { url: path }) =>
      json(path === '/apply-template' ? { prompt: '<rendered>' } : { tokens: Array(50).fill(7) })(response, asked[0]!)
    assert.equal((await open('llama-server').count(shown)).tokens, 305)
    assert.doesNotMatch(JSON.stringify(asked), /AAAA/)
    behave = json({ input_tokens: 60 })
    assert.equal((await open('anthropic').count(shown)).tokens, 60)
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
    assert.deepEqual(asked.at(-1)?.body['messages'], [
      {
        role: 'user',
        content: [
          { type: 'image', source },
          { type: 'text', text: 'What is it?' },
        ],
      },
    ])
    const [most, text] = [
      await byteTokenizer.count(shown),
      await byteTokenizer.count({ messages: [{ role: 'user', text: 'What is it?' }] }),
    ]
    assert.equal(most.tokens - text.tokens, 255)
    behave = refuse(500)
    assert.equal((await open('anthropic').count(shown)).tokens, most.tokens)
  })

  describe('of encrypted reasoning', () => {
    const signature = Buffer.alloc(4000).toString('base64')
    const thinking: Prompt = {
      messages: [
        { role: 'assistant', parts: [{ kind: 'reasoning', text: '', signature, redacted: true }] },
        { role: 'user', text: 'Go on' },
      ],
    }

    test('it is added to a count of text, and held with a margin of its own', async () => {
      behave = json({ count: 100 })
      const tokenizer = open('vllm')
      assert.deepEqual(await tokenizer.count(thinking), { exact: false, tokens: 1100, most: 2142 })
      assert.equal(tokenizer.estimateOf(thinking), 1100)
      const { tokens, ...held } = await open('o200k_base', { margin: 0 }).count(thinking)
      assert.deepEqual(held, { exact: false, most: tokens + 1000 })
    })

    test('Anthropic counts it itself', async () => {
      behave = json({ input_tokens: 100 })
      assert.deepEqual(await open('anthropic').count(thinking), { exact: false, tokens: 100, most: 102 })
      assert.ok(JSON.stringify(asked[0]?.body).includes(signature))
    })

    test('its bytes bound it where nothing else counts', async () => {
      const { tokens } = await byteTokenizer.count({
        messages: [
          { role: 'assistant', parts: [] },
          { role: 'user', text: 'Go on' },
        ],
      })
      const expected = { exact: false, tokens: tokens + 4000, most: tokens + 4000 }
      assert.deepEqual(await byteTokenizer.count(thinking), expected)
      behave = refuse(500)
      assert.deepEqual(await open('anthropic').count(thinking), expected)
    })

    test('it costs nothing where it is not sent', async () => {
      behave = json({ count: 100 })
      const unsent = { sendsSignatures: false }
      assert.deepEqual(await open('vllm', unsent).count(thinking), { exact: false, tokens: 100, most: 102 })
      const bytes = open('bytes', unsent)
      assert.equal((await byteTokenizer.count(thinking)).tokens - (await bytes.count(thinking)).tokens, 4000)
      assert.equal(bytes.tokensBesidesText(thinking), 0)
    })

    test('it is part of the estimate if the upstream reports no usage', () => {
      for (const setting of ['bytes', 'vllm']) assert.equal(open(setting).tokensBesidesText(thinking), 1000)
    })
  })

  test('the margin is a percentage of the count, rounded up', async () => {
    behave = json({ count: 1000 })
    for (const [margin, most] of [
      [0, 1000],
      [0.25, 1003],
      [10, 1100],
      [100, 2000],
    ] as const) {
      assert.deepEqual(await open('vllm', { margin }).count(prompt), { exact: false, tokens: 1000, most })
    }
  })

  test('the count is used as the estimate if the upstream reports no usage', async () => {
    behave = json({ count: 150 })
    const tokenizer = open('vllm')
    assert.equal(tokenizer.estimateOf(prompt), undefined)
    await tokenizer.count(prompt)
    assert.equal(tokenizer.estimateOf(prompt), 150)
    assert.equal(tokenizer.estimateOf({ messages: [...prompt.messages] }), undefined)
  })
})

const faults: [name: string, behaviour: Behaviour][] = [
  ['a refusal', refuse(400)],
  ['a missing path', refuse(404)],
  ['a server error', refuse(500)],
  ['too many requests, for longer than a count may take', refuse(429, { 'retry-after': '30' })],
  ['a redirect', refuse(307, { location: 'http://127.0.0.1:1/tokenize' })],
  ['a cut connection', (response) => void response.destroy()],
  ['no JSON', (response) => void response.end('Grüß Gott')],
  ['another shape', json({ count: '150' })],
  ['a negative count', json({ count: -1 })],
  ['a fraction', json({ count: 1.5 })],
  ['more bytes than any count', (response) => void response.end(Buffer.alloc(80_000, ' '))],
]

describe('the bytes are used instead', () => {
  for (const [name, behaviour] of faults) {
    test(`after ${name}; the log names the request and quotes nothing`, async () => {
      behave = behaviour
      const before = logged().length
      const tokenizer = open('vllm')
      assert.deepEqual(await tokenizer.count(prompt, { requestId: 'request-7' }), fallback)
      assert.equal(tokenizer.estimateOf(prompt), undefined)
      const lines = logged().slice(before).trim().split('\n').map(parseObject)
      assert.match(String(at(lines.at(-1), 'msg')), /its bytes are used/)
      for (const line of lines) assert.equal(line['request_id'], 'request-7')
      assert.doesNotMatch(logged(), /Gott|Be brief|sk-secret/)
    })
  }

  test('after two seconds', async (t) => {
    const clock = stopClock(t)
    behave = () => undefined
    const counted = open('vllm').count(prompt)
    await until(() => asked.length === 1)
    clock.advance(2000)
    assert.deepEqual(await counted, fallback)
  })

  test('an unreachable server is skipped and another one counts', async () => {
    behave = json({ count: 150 })
    const gone = { url: 'http://127.0.0.1:1/v1' }
    assert.deepEqual(await open('vllm', { endpoints: [gone] }).count(prompt), fallback)
    for (let round = 0; round < 3; round++) {
      assert.equal((await open('vllm', { endpoints: [gone, { url }] }).count(prompt)).tokens, 150)
    }
  })

  test('if the tokenizer cannot be loaded', async () => {
    assert.deepEqual(await open('/nowhere/tokenizer.json').count(prompt), fallback)
  })
})

test('a caller who disconnects ends the count', async () => {
  behave = () => undefined
  const leaving = new AbortController()
  const counted = open('vllm').count(prompt, { signal: leaving.signal })
  await until(() => asked.length === 1)
  leaving.abort()
  await assert.rejects(counted, { code: 'malformed_request' })
  await assert.rejects(open('o200k_base').count(prompt, { signal: AbortSignal.abort() }), { code: 'malformed_request' })
})

test('claude is counted by Anthropic if it is the upstream and its key is known, and in bytes otherwise', async () => {
  const upstreamModel = 'claude-sonnet-4-5'
  for (const endpoints of [[], [{ url, key: 'k' }], [{ url: 'https://api.anthropic.com/v1' }]]) {
    assert.deepEqual(await open('auto', { upstreamModel, endpoints }).count(prompt), fallback)
  }
  assert.equal(asked.length, 0)
})
