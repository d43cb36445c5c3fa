import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import OpenAI from 'openai'
import { ok } from '../support/answer.ts'
import { listOf } from '../../src/platform/text/json.ts'
import { at, listAt, objectAt } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { chunksOf } from '../support/scripted-reply.ts'
import { startService, upstreamModel, type Customer, type Service } from '../support/service.ts'
import { logprobOf } from '../support/vendor-openai.ts'
import type { VendorOptions } from '../support/vendor-options.ts'
import { startVendor } from '../support/vendor.ts'

/** What choices of chat completions can have besides text, and their counterpart in responses. */

let service: Service
let customer: Customer
const vendor = fixture(() => startVendor())
setUp(async () => {
  const models = [
    upstreamModel(vendor.url, { pass: ['logprobs', 'n', 'top_logprobs'] }),
    upstreamModel(vendor.url, { id: 'known', upstream_model: 'gpt-4o-mini' }),
    upstreamModel(vendor.url, { id: 'own-only', pass: ['logprobs'] }),
    upstreamModel(vendor.url, { id: 'bare' }),
  ]
  service = await startService({ models })
  customer = await service.customer()
})
after(() => service.close())

const messages = [{ role: 'user', content: 'Hello' }]
const chat = { model: 'fast', messages, max_tokens: 10 }
const response = { model: 'fast', input: 'Hello', max_output_tokens: 10 }
const included = { include: ['message.output_text.logprobs'], top_logprobs: 2 }
const scored = { logprobs: true, top_logprobs: 2 }

const complete = (fields: object, headers: Readonly<Record<string, string>> = {}) =>
  service.call('/v1/chat/completions', customer.key, { ...chat, ...fields }, headers)
const respond = (fields: object) => service.call('/v1/responses', customer.key, { ...response, ...fields })

/** What the choices of a stream's chunks have, by index, with the chunks of each that have a text. */
function streamed(events: string) {
  const pieces = chunksOf(events).flatMap((chunk) => listAt(chunk, 'choices').map((choice) => objectAt(choice)))
  return pieces.flatMap((choice) => {
    const content = at(choice, 'delta', 'content')
    return content === undefined || content === '' ? [] : [{ content, logprobs: at(choice, 'logprobs') }]
  })
}

const contentOf = (...tokens: readonly string[]) => ({ content: tokens.map(logprobOf), refusal: null })

const play = (options: VendorOptions = {}) => vendor.set({ logprobs: true, ...options })

describe('A50 log probabilities', () => {
  it('of a chat completion are those of its upstream, which is asked for them', async () => {
    play()
    for (const model of ['fast', 'known']) {
      const { json } = ok(await complete({ model, ...scored }))
      assert.deepEqual(at(json, 'choices', 0, 'logprobs'), contentOf('Hello', ' there', '.'))
      const { logprobs, top_logprobs: top } = objectAt(vendor.last.body)
      assert.deepEqual([logprobs, top], [true, 2])
      const { text } = ok(await complete({ model, ...scored, stream: true }))
      assert.deepEqual(
        streamed(text),
        ['Hello', ' there', '.'].map((content) => ({ content, logprobs: contentOf(content) })),
      )
    }
    ok(await complete({ logprobs: true }))
    assert.deepEqual([at(vendor.last.body, 'logprobs'), at(vendor.last.body, 'top_logprobs')], [true, undefined])
  })

  it('are neither asked for nor returned without the field', async () => {
    play()
    const { json } = ok(await complete({ logprobs: false, top_logprobs: 0 }))
    assert.equal(at(json, 'choices', 0, 'logprobs'), null)
    assert.equal(at(vendor.last.body, 'logprobs'), undefined)
    const { text } = ok(await complete({ stream: true }))
    assert.deepEqual(
      streamed(text).map(({ logprobs }) => logprobs),
      [null, null, null],
    )
  })

  it('end where the reply is cut off, whole and streamed', async () => {
    play({ tokens: ['One', ' and', ' two', ' END', ' more'], text: 'One and two END more' })
    const stop = ['two E']
    const { json } = ok(await complete({ ...scored, stop }))
    assert.deepEqual(at(json, 'choices', 0, 'message', 'content'), 'One and ')
    assert.deepEqual(at(json, 'choices', 0, 'logprobs'), contentOf('One', ' and', ' two'))
    const { text } = ok(await complete({ ...scored, stop, stream: true }))
    assert.deepEqual(streamed(text), [
      { content: 'One', logprobs: contentOf('One') },
      { content: ' and', logprobs: contentOf(' and') },
      { content: ' ', logprobs: contentOf(' two') },
    ])
  })

  it('are stored with the reply for a retry', async () => {
    play()
    for (const stream of [false, true]) {
      const ask = (name: string) => complete({ ...scored, stream }, { 'idempotency-key': name })
      const [first, calls] = [ok(await ask(`k-${stream}`)), vendor.calls]
      const again = ok(await ask(`k-${stream}`))
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      assert.equal(vendor.calls, calls)
      if (!stream) assert.equal(again.text, first.text)
      else {
        assert.deepEqual(streamed(again.text), [
          { content: 'Hello there.', logprobs: contentOf('Hello', ' there', '.') },
        ])
      }
    }
  })

  it('of a response are in its texts, its events and what it repeats', async () => {
    play()
    const { json } = ok(await respond(included))
    const expected = ['Hello', ' there', '.'].map(logprobOf)
    assert.deepEqual(at(json, 'output', 0, 'content', 0, 'logprobs'), expected)
    assert.equal(at(json, 'top_logprobs'), 2)
    const { text } = ok(await respond({ ...included, stream: true }))
    const events = chunksOf(text.replaceAll(/^event: .*\n/gm, ''))
    const of = (type: string) => events.filter((event) => event['type'] === type)
    assert.deepEqual(
      of('response.output_text.delta').map((event) => at(event, 'logprobs')),
      expected.map((each) => [each]),
    )
    assert.deepEqual(at(of('response.output_text.done')[0], 'logprobs'), expected)
    const [done] = of('response.completed')
    assert.deepEqual(at(done, 'response', 'output'), [
      { ...objectAt(json, 'output', 0), id: at(done, 'response', 'output', 0, 'id') },
    ])
    ok(await respond({ ...included, input: [...listAt(json, 'output'), { role: 'user', content: 'And?' }] }))
    const plain = ok(await respond({}))
    assert.deepEqual(at(plain.json, 'output', 0, 'content', 0, 'logprobs'), [])
  })

  it('are refused by name for a model that does not return them, and where no dialect has them', async () => {
    const { calls } = vendor
    const refused: readonly (readonly [address: string, fields: object, field: string])[] = [
      ['/v1/chat/completions', { ...chat, ...scored, model: 'bare' }, 'logprobs'],
      ['/v1/chat/completions', { ...chat, ...scored, model: 'own-only' }, 'top_logprobs'],
      ['/v1/chat/completions', { ...chat, top_logprobs: 2 }, 'top_logprobs'],
      ['/v1/responses', { ...response, ...included, model: 'bare' }, 'include'],
      ['/v1/responses', { ...response, top_logprobs: 2 }, 'top_logprobs'],
      ['/v1/responses', { ...response, logprobs: true }, 'logprobs'],
      ['/v1/messages', { ...chat, logprobs: true }, 'logprobs'],
      ['/v1/messages', { ...chat, top_logprobs: 2 }, 'top_logprobs'],
    ]
    for (const [address, fields, field] of refused) {
      const answer = await service.call(address, customer.key, fields)
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.text, new RegExp(`[ \\\\"]${field}[ .\\\\"]`), answer.text)
    }
    assert.equal(vendor.calls, calls)
  })
})

const two = { n: 2, max_tokens: 10 }
const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }
const call = { id: 'call_1', name: 'find', input: '{"a":1}' }

/** The choices of a stream, as its chunks add up. */
function addedUp(events: string) {
  const choices = new Map<unknown, { content: string; calls: string; finish: unknown; logprobs: unknown[] }>()
  for (const choice of chunksOf(events).flatMap((chunk) => listAt(chunk, 'choices'))) {
    const index = at(choice, 'index')
    const known = choices.get(index) ?? { content: '', calls: '', finish: null, logprobs: [] }
    const [content, input] = [
      at(choice, 'delta', 'content'),
      at(choice, 'delta', 'tool_calls', 0, 'function', 'arguments'),
    ]
    const scores = at(choice, 'logprobs', 'content')
    choices.set(index, {
      content: known.content + (typeof content === 'string' ? content : ''),
      calls: known.calls + (typeof input === 'string' ? input : ''),
      finish: at(choice, 'finish_reason') ?? known.finish,
      logprobs: [...known.logprobs, ...listOf(scores)],
    })
  }
  return new Map([...choices].toSorted(([one], [other]) => Number(one) - Number(other)))
}

const wholes = (body: object) =>
  listAt(body, 'choices').map((choice) => [
    at(choice, 'index'),
    at(choice, 'message', 'content'),
    at(choice, 'message', 'tool_calls', 0, 'function', 'arguments'),
    at(choice, 'finish_reason'),
  ])

describe('A50 several choices', () => {
  it('are made with one call, and charged once, as the upstream reports it', async () => {
    vendor.set({ text: 'One.', usage, others: [{ text: null, calls: [call], finishReason: 'tool_calls' }] })
    for (const model of ['fast', 'known']) {
      const { accountId, key } = await service.customer()
      for (const stream of [false, true]) {
        const { calls } = vendor
        const fields = { ...chat, ...two, model, stream, stream_options: { include_usage: true } }
        const answer = ok(await service.call('/v1/chat/completions', key, fields))
        assert.deepEqual([vendor.calls - calls, at(vendor.last.body, 'n')], [1, 2])
        if (stream) {
          assert.deepEqual(
            [...addedUp(answer.text).values()],
            [
              { content: 'One.', calls: '', finish: 'stop', logprobs: [] },
              { content: '', calls: call.input, finish: 'tool_calls', logprobs: [] },
            ],
          )
          assert.deepEqual(at(chunksOf(answer.text).at(-1), 'usage', 'completion_tokens'), 7)
        } else {
          assert.deepEqual(wholes(answer.json), [
            [0, 'One.', undefined, 'stop'],
            [1, null, call.input, 'tool_calls'],
          ])
          assert.equal(answer.headers.get('x-cost'), '0.000006')
        }
      }
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual(
        [rows.map((row) => [row.inputTokens, row.outputTokens, row.cost]), holds],
        [Array.from({ length: 2 }, () => [12, 7, 12n * 150_000n + 7n * 600_000n]), 0],
      )
    }
  })

  it('are held, and count against the limits, with the maximum of each', async () => {
    vendor.set({ text: 'One.', usage, others: [{ text: 'Two.' }, { text: 'Three.' }] })
    const most = { max_tokens: 400 }
    const status = async (key: string, n: number) => {
      const { status: answered, error } = await service.call('/v1/chat/completions', key, { ...chat, ...most, n })
      return answered === 200 ? answered : [answered, error['code'], error['param']]
    }
    const limited = await service.customer({ tokensPerMinute: 1000 })
    assert.deepEqual(await status(limited.key, 3), [400, 'can_never_fit_limit', 'max_tokens'])
    assert.deepEqual(await status(limited.key, 2), 200)
    const poor = await service.customer({ credit: 1000n * 600_000n })
    assert.deepEqual(await status(poor.key, 3), [402, 'insufficient_credit', 'max_tokens'])
    assert.deepEqual(await status(poor.key, 2), 200)
  })

  it('end each before its own stop sequence, and are charged without what was cut off', async () => {
    const first = { text: 'One END more', tokens: ['One', ' END', ' more'] }
    vendor.set({ ...first, logprobs: true, usage, others: [{ text: 'Two.', tokens: ['Two', '.'], logprobs: true }] })
    const { accountId, key } = await service.customer()
    const fields = { ...chat, ...two, ...scored, stop: ['END'] }
    const { json } = ok(await service.call('/v1/chat/completions', key, fields))
    assert.deepEqual(wholes(json), [
      [0, 'One ', undefined, 'stop'],
      [1, 'Two.', undefined, 'stop'],
    ])
    const scores = [contentOf('One', ' END'), contentOf('Two', '.')]
    assert.deepEqual(
      [0, 1].map((index) => at(json, 'choices', index, 'logprobs')),
      scores,
    )
    const { text } = ok(await service.call('/v1/chat/completions', key, { ...fields, stream: true }))
    assert.deepEqual(
      [...addedUp(text).values()],
      [
        { content: 'One ', calls: '', finish: 'stop', logprobs: scores[0]?.content },
        { content: 'Two.', calls: '', finish: 'stop', logprobs: scores[1]?.content },
      ],
    )
    const { rows } = await service.books(accountId)
    // Of the seven tokens that were reported, the whole reply has 11 of 16 characters; the stream has four pieces.
    assert.deepEqual(
      rows.map(({ outputTokens }) => outputTokens).toSorted((one, other) => one - other),
      [4, 6],
    )
  })

  it('are all replayed to a retry', async () => {
    vendor.set({
      text: 'One.',
      usage,
      logprobs: true,
      others: [{ text: null, calls: [call], finishReason: 'tool_calls' }],
    })
    const { accountId, key } = await service.customer()
    for (const stream of [false, true]) {
      const ask = () =>
        service.call(
          '/v1/chat/completions',
          key,
          { ...chat, ...two, ...scored, stream },
          { 'idempotency-key': `${stream}` },
        )
      const [first, { calls }, again] = [ok(await ask()), vendor, ok(await ask())]
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      if (stream) assert.deepEqual(addedUp(again.text), addedUp(first.text))
      else assert.equal(again.text, first.text)
      assert.equal(vendor.calls, calls)
    }
    assert.equal((await service.books(accountId)).rows.length, 2)
  })

  it('of a stream that breaks off are charged together, as far as they were received', async () => {
    vendor.set({ tokens: ['One', ' more'], others: [{ tokens: ['Two', ' more'] }], fault: 'reset', after: 3 })
    const { accountId, key } = await service.customer()
    const { text } = ok(await service.call('/v1/chat/completions', key, { ...chat, ...two, stream: true }))
    assert.match(text, /was charged/)
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.map((row) => [row.outputTokens, row.stopReason]), holds], [[[3, 'error']], 0])
  })

  it('cost no more than what is held, whatever their upstream reports', async () => {
    const reported = { prompt_tokens: 12, completion_tokens: 5000, total_tokens: 5012 }
    vendor.set({ text: 'One.', usage: reported, others: [{ text: 'Two.' }] })
    const { accountId, key } = await service.customer()
    for (const stream of [false, true]) {
      ok(await service.call('/v1/chat/completions', key, { ...chat, ...two, stream }))
    }
    const { rows } = await service.books(accountId)
    assert.deepEqual(
      rows.map(({ outputTokens, cost }) => [outputTokens, cost]),
      Array.from({ length: 2 }, () => [20, 12n * 150_000n + 20n * 600_000n]),
    )
  })

  it('that an upstream does not return fail the request uncharged, and leave the model as it is', async () => {
    vendor.set({ text: 'One.' })
    const { accountId, key } = await service.customer()
    for (let asked = 0; asked < 8; asked++) {
      const answer = await service.call('/v1/chat/completions', key, { ...chat, ...two })
      assert.deepEqual([answer.status, answer.error['code']], [502, 'upstream_failed'])
    }
    assert.deepEqual((await service.books(accountId)).rows, [])
    ok(await service.call('/v1/chat/completions', key, chat))
    ok(await service.call('/v1/chat/completions', key, { ...chat, model: 'bare', n: 1 }))
    assert.equal(at(vendor.last.body, 'n'), undefined)
  })

  it('are refused by name for a model that does not take n, and where no dialect has them', async () => {
    const { calls } = vendor
    for (const [address, fields] of [
      ['/v1/chat/completions', { ...chat, ...two, model: 'bare' }],
      ['/v1/responses', { ...response, n: 2 }],
      ['/v1/messages', { ...chat, n: 2 }],
    ] as const) {
      const answer = await service.call(address, customer.key, fields)
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.text, /field n[ .]/)
    }
    assert.equal(vendor.calls, calls)
  })
})

it("A30 OpenAI's official client adds up the choices and the log probabilities of streams", async () => {
  const client = new OpenAI({ apiKey: customer.key, baseURL: `${service.url}/v1`, maxRetries: 0 })
  vendor.set({ text: 'One.', logprobs: true, others: [{ text: null, calls: [call], finishReason: 'tool_calls' }] })
  const { choices } = await client.chat.completions
    .stream({ ...chat, ...scored, n: 2, messages: [{ role: 'user', content: 'Hello' }] })
    .finalChatCompletion()
  assert.deepEqual(
    choices.map(({ index, message, finish_reason: reason }) => [index, message.content, reason]),
    [
      [0, 'One.', 'stop'],
      [1, null, 'tool_calls'],
    ],
  )
  assert.deepEqual(choices[0]?.logprobs, contentOf('One', '.'))
  const [made] = choices[1]?.message.tool_calls ?? []
  assert.deepEqual(at(made, 'function', 'arguments'), call.input)

  vendor.set({ text: 'One.', logprobs: true })
  const answered = await client.responses
    .stream({ ...response, top_logprobs: 2, include: ['message.output_text.logprobs'] })
    .finalResponse()
  assert.equal(answered.output_text, 'One.')
  assert.deepEqual(at(answered.output[0], 'content', 0, 'logprobs'), ['One', '.'].map(logprobOf))
})
