import assert from 'node:assert/strict'
import type { RequestListener, ServerResponse } from 'node:http'
import { after, afterEach, test, type TestContext } from 'node:test'
import { text as textOf } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { at, listAt, parseObject, valuesOf } from '../../../../tests/support/json.ts'
import { settle, stopClock } from '../../../../tests/support/clock.ts'
import { createGate } from '../../../../tests/support/gate.ts'
import { openPackage } from '../../../../tests/support/provider-packages.ts'
import { serve } from '../../../../tests/support/server.ts'
import { until } from '../../../../tests/support/until.ts'
import type { Fault } from '../../../../tests/support/vendor-faults.ts'
import { createModels, failure, modelOptions, pieces, prompt } from '../../../../tests/support/vendor-run.ts'
import { startVendor } from '../../../../tests/support/vendor.ts'
import type { ProblemCode } from '../../../platform/problems.ts'
import type { RunLimits, StreamPart } from '../../model.ts'
import type { OpenAiModelOptions } from './openai.ts'

const vendor = await startVendor()
const key = 'sk-secret-of-the-upstream'
const models = createModels()
const open = (options: Partial<OpenAiModelOptions> = {}) =>
  models.openAi({ endpoints: [{ url: vendor.url, key }], ...options })

const usageOf = async (usage: unknown, text = 'Hello there.', limits: RunLimits = { maxOutputTokens: 100 }) => {
  vendor.set({ usage, text })
  const end = (await pieces(open(), limits)).at(-1)
  assert.equal(end?.kind, 'end')
  return end?.kind === 'end' ? end.usage : undefined
}

const textsOf = (all: readonly StreamPart[]): string =>
  all.flatMap((part) => (part.kind === 'texts' ? part.texts : [])).join('')

async function startServer(t: TestContext, answer: RequestListener): Promise<string> {
  const server = await serve(answer)
  t.after(() => server.close())
  return `${server.url}/v1`
}

afterEach(async () => {
  vendor.set({})
  await models.close()
})
after(() => vendor.close())

test('a reply is one text and its end, with the reported usage', async () => {
  assert.deepEqual(await pieces(open()), [
    { kind: 'texts', texts: ['Hello there.'] },
    { kind: 'end', stopReason: 'complete', usage: { inputTokens: 12, outputTokens: 3, source: 'upstream' } },
  ])
})

test("the upstream request has the caller's settings and nothing else", async () => {
  await pieces(open())
  assert.deepEqual(vendor.last.body, {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Grüß Gott' },
    ],
    max_tokens: 100,
  })
  assert.equal(vendor.last.headers.authorization, `Bearer ${key}`)
  assert.equal(vendor.last.headers['content-type'], 'application/json')
  assert.equal(vendor.last.headers['accept-encoding'], 'identity')

  await pieces(open(), { maxOutputTokens: 7, temperature: 0.5, topP: 0.9, seed: 42, stop: ['\n', '###'] })
  assert.deepEqual(vendor.last.body, {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Grüß Gott' },
    ],
    max_tokens: 7,
    temperature: 0.5,
    top_p: 0.9,
    seed: 42,
    stop: ['\n', '###'],
  })
})

const openAiSays =
  "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
for (const [refuses, takes, body] of [
  ['max_tokens', 'max_completion_tokens', { error: { message: openAiSays, param: 'max_tokens' } }],
  ['stream_options', 'max_tokens', { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'] }] }],
] as const) {
  test(`A41 a server that refuses ${refuses} is asked once more in its own form, and from then on only so`, async (t) => {
    const asked: string[][] = []
    const url = await startServer(t, (request, response) => {
      void textOf(request).then((sent) => {
        const fields = Object.keys(parseObject(sent))
        asked.push(fields)
        if (fields.includes(refuses)) return response.writeHead(400).end(JSON.stringify(body))
        return response.end('data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
      })
    })
    for (const model of [open({ endpoints: [{ url }] }), openPackage(models, '@ai-sdk/openai-compatible', { url })]) {
      for (const requests of [2, 1]) {
        asked.length = 0
        assert.equal((await pieces(model, { stream: true })).length, 2)
        assert.equal(asked.length, requests)
        assert.ok(asked.at(-1)?.includes(takes) && !asked.at(-1)?.includes(refuses))
      }
    }
  })
}

const system = (text: string) => ({ role: 'system', text }) as const

test("a server that takes one system message, at the beginning, gets the later ones as the user's", async (t) => {
  const asked: unknown[] = []
  const url = await startServer(t, (request, response) => {
    void textOf(request).then((sent) => {
      const messages = listAt(parseObject(sent), 'messages')
      asked.push(messages)
      if (messages.slice(1).some((message) => at(message, 'role') === 'system')) {
        return response.writeHead(400).end('{"message":"System message must be at the beginning."}')
      }
      return response.end('data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    })
  })
  const messages = [system('Be brief.'), system('Be kind.'), { role: 'user', text: 'Hello' } as const, system('Now.')]
  for (const model of [open({ endpoints: [{ url }] }), openPackage(models, '@ai-sdk/openai-compatible', { url })]) {
    for (const requests of [2, 1]) {
      asked.length = 0
      await Array.fromAsync(model.stream({ messages }, { maxOutputTokens: 100 }, t.signal))
      assert.equal(asked.length, requests)
      assert.deepEqual(asked.at(-1), [
        { role: 'system', content: 'Be brief.\n\nBe kind.' },
        { role: 'user', content: 'Hello' },
        { role: 'user', content: 'Now.' },
      ])
    }
  }
})

test('a refused value of max_tokens is not taken for a refused field', async () => {
  vendor.set({ fault: 'context_length_in_words' })
  const before = vendor.calls
  assert.equal((await failure(open())).code, 'context_length_exceeded')
  assert.equal(vendor.calls, before + 1)
})

test('an endpoint without a key gets no Authorization; its URL may end in a slash', async () => {
  await pieces(open({ endpoints: [{ url: `${vendor.url}/` }] }))
  assert.equal(vendor.last.headers.authorization, undefined)
})

const reasons: readonly (readonly [theirs: string | null, ours: string])[] = [
  ...['stop', 'tool_calls', 'function_call', 'tool_use', 'eos', 'end_turn'].map((word) => [word, 'complete'] as const),
  ...['length', 'MAX_TOKENS', 'model_length'].map((word) => [word, 'max_output_tokens'] as const),
  ...['content_filter', 'SAFETY', 'sensitive', 'content-filter'].map((word) => [word, 'content_filter'] as const),
  ...['odd', 'error', 'the private words', '', null].map((word) => [word, 'complete'] as const),
]
for (const [theirs, ours] of reasons) {
  const isMissing = theirs === null || theirs === ''
  test(`A43 finish_reason ${JSON.stringify(theirs)} is ${ours}`, async () => {
    vendor.set({ finishReason: theirs })
    models.lines.length = 0
    // A stream without one has not ended yet.
    for (const stream of isMissing ? [false] : [false, true]) {
      const all = await pieces(open(), { stream })
      const end = all.at(-1)
      assert.equal(end?.kind === 'end' && end.stopReason, ours)
      assert.equal(textsOf(all), 'Hello there.')
    }
    const isUnknown = isMissing || ['odd', 'error', 'the private words'].includes(theirs)
    assert.equal(models.lines.join().includes('not known counts as complete'), isUnknown)
    assert.ok(!models.lines.join().includes('private'))
  })
}

test('an empty reply has no text piece', async () => {
  for (const text of ['', null]) {
    vendor.set({ text })
    assert.deepEqual(valuesOf(await pieces(open()), 'kind'), ['end'])
  }
})

test('a usage of 0 is not missing', async () => {
  assert.deepEqual(await usageOf({ prompt_tokens: 0, completion_tokens: 0 }), {
    inputTokens: 0,
    outputTokens: 0,
    source: 'upstream',
  })
})

test('a missing usage is estimated and marked', async () => {
  // 20 bytes of prompt and 12 of reply.
  const estimated = { inputTokens: 5, outputTokens: 3, source: 'estimated' }
  assert.deepEqual(await usageOf(null), estimated)
  assert.deepEqual(await usageOf({}), estimated)
  assert.deepEqual(await usageOf({ prompt_tokens: 9 }), { ...estimated, inputTokens: 9 })
  assert.deepEqual(await usageOf(null, 'word '.repeat(100), { maxOutputTokens: 10 }), {
    ...estimated,
    outputTokens: 10,
  })
})

test('a usage above the hold is reported unchanged: the till decides what to charge', async () => {
  assert.deepEqual(await usageOf({ prompt_tokens: 5000, completion_tokens: 101 }), {
    inputTokens: 5000,
    outputTokens: 101,
    source: 'upstream',
  })
})

test('the count is an upper bound: one token per byte, plus the template', async () => {
  const counted = await open().count(prompt)
  assert.equal(counted.exact, false)
  assert.equal(counted.tokens, Buffer.byteLength('Be brief.Grüß Gott') + 2 * 16 + 128)
})

const faults: readonly [Fault, ProblemCode, asked?: number][] = [
  ['server_error', 'upstream_failed', 3],
  ['wrong_key', 'upstream_failed'],
  ['bad_request', 'upstream_failed'],
  ['unknown_address', 'upstream_failed'],
  ['redirect', 'upstream_failed'],
  ['reset', 'upstream_failed', 3],
  ['half_body', 'upstream_failed'],
  ['cut_json', 'upstream_failed'],
  ['html', 'upstream_failed'],
  ['oversized', 'upstream_failed'],
  ['invalid_utf8', 'upstream_failed'],
  ['no_choices', 'upstream_failed'],
  ['context_length', 'context_length_exceeded'],
  ['context_length_in_words', 'context_length_exceeded'],
  ['rate_limit', 'overloaded', 3],
  ['busy', 'overloaded'],
]

for (const [fault, code, asked = 1] of faults) {
  test(`${fault} is ${code}, and the next request is served`, async () => {
    // Shorter than the Retry-After of `busy`: the model does not wait for it.
    const model = open({ timeout: { ...modelOptions.timeout, first_token: 2500 } })
    const before = vendor.calls
    vendor.set({ fault, text: 'private words' })
    const problem = await failure(model)
    assert.equal(problem.code, code)
    assert.equal(problem.details.retry, fault === 'bad_request' ? false : undefined)
    assert.equal(vendor.calls, before + asked, 'attempted as often as may help')
    const { cause, ...said } = problem.details
    assert.doesNotMatch(
      problem.message + JSON.stringify(said),
      /sk-secret|private words|html|127\.0\.0\.1|Wrong key|4096/,
    )
    assert.doesNotMatch(inspect(cause), /sk-secret|private words|<html/)
    vendor.set({})
    assert.equal((await pieces(model)).length, 2)
  })
}

const counts = { prompt_tokens: 20, completion_tokens: 5 }
const event = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`
const final = { delta: {}, finish_reason: 'stop' }
type Reported = readonly [
  vendors: string,
  whole: object,
  chunks?: readonly string[] | undefined,
  used?: readonly unknown[],
]
const reports: readonly Reported[] = [
  ['OpenAI', { usage: counts }, [event({ choices: [final] }), event({ choices: [], usage: counts })]],
  ['Groq', { usage: counts }, [event({ choices: [final], x_groq: { usage: counts } })]],
  ['Moonshot', { usage: counts }, [event({ choices: [{ ...final, usage: counts }] })]],
  [
    'no choices',
    { usage: counts },
    [event({ choices: [final] }), event({ choices: null, usage: counts }), 'data:\n\n'],
  ],
  ['names of another API', { usage: { input_tokens: 20, output_tokens: 5 } }],
  ['reasoning in the total only', { usage: { ...counts, total_tokens: 32 } }, undefined, [20, 12, 'upstream']],
  [
    'a cache beside the prompt',
    { usage: { ...counts, cached_tokens: 7, total_tokens: 32 } },
    undefined,
    [13, 5, 'upstream'],
  ],
  ['a count in the total only', { usage: { prompt_tokens: 20, total_tokens: 25 } }],
  ...['12', null, -1, 1.5, {}].map(
    (prompt_tokens) =>
      [
        `a count of ${JSON.stringify(prompt_tokens)}`,
        { usage: { prompt_tokens, completion_tokens: 5 } },
        undefined,
        [5, 5, 'estimated'],
      ] as const,
  ),
  ...[7, [], 'none', null].map(
    (usage) => [`a usage of ${JSON.stringify(usage)}`, { usage }, undefined, [5, 2, 'estimated']] as const,
  ),
]
for (const [vendors, whole, chunks, used] of reports) {
  test(`A45 usage: ${vendors}, whole and streamed`, async (t) => {
    const message = { message: { content: 'Hi there' }, finish_reason: 'stop' }
    const events = [
      event({ choices: [{ delta: { content: 'Hi' } }] }),
      event({ choices: [{ delta: { content: ' there' } }] }),
      ...(chunks ?? [event({ choices: [final], ...whole })]),
      'data: [DONE]\n\n',
    ]
    const url = await startServer(t, (request, response) => {
      void textOf(request).then((sent) =>
        response.end(
          sent.includes('"stream":true') ? events.join('') : JSON.stringify({ choices: [message], ...whole }),
        ),
      )
    })
    for (const model of [open({ endpoints: [{ url }] }), openPackage(models, '@ai-sdk/openai-compatible', { url })]) {
      for (const stream of [false, true]) {
        const end = (await pieces(model, { stream })).at(-1)
        assert(end?.kind === 'end')
        const { inputTokens, outputTokens, source } = end.usage
        const expected = used ?? [20, 5, 'upstream']
        assert.deepEqual([inputTokens, outputTokens, source], expected, `${model.id}, stream: ${stream}`)
      }
    }
  })
}

test('a reply may be as long as its tokens allow; 5 MB for 100 tokens is a failure', async () => {
  const text = 'ä'.repeat(130_000)
  vendor.set({ text })
  const [piece] = await pieces(open())
  assert.equal(piece?.kind === 'texts' && piece.texts.join(), text)
  vendor.set({ text: 'ä'.repeat(2_500_000) })
  assert.equal((await failure(open())).code, 'upstream_failed')
})

test('the stop reason is stop_sequence if the server names the sequence', async () => {
  for (const [stop, reason] of [
    [['###', '\n'], 'stop_sequence'],
    [['other'], 'complete'],
    [undefined, 'complete'],
  ] as const) {
    vendor.set({ matchedStop: '\n' })
    for (const stream of [false, true]) {
      const end = (await pieces(open(), { stream, ...(stop && { stop }) })).at(-1)
      assert.equal(end?.kind === 'end' && end.stopReason, reason, `${stop?.join()} ${stream}`)
    }
  }
})

/** No retry waits for longer than two seconds. */
const impatient = { timeout: { ...modelOptions.timeout, first_token: 2000 } }

test('the Retry-After of a refusal is passed on in whole seconds', async () => {
  const cases: [string | undefined, number][] = [
    ['7', 7],
    ['1.5', 2],
    [undefined, 1],
    ['soon', 1],
    ['0', 1],
    ['999999', 3600],
  ]
  for (const [retryAfter, seconds] of cases) {
    vendor.set({ fault: 'rate_limit', ...(retryAfter !== undefined && { retryAfter }) })
    assert.equal((await failure(open(impatient))).details.retryAfter, seconds, `Retry-After: ${retryAfter}`)
  }
  vendor.set({ fault: 'rate_limit', retryAfter: new Date(Date.now() + 3_000_000).toUTCString() })
  const seconds = (await failure(open(impatient))).details.retryAfter ?? 0
  assert(seconds >= 2900 && seconds <= 3000, `${seconds}`)
})

const timeout = { connect: 1000, first_token: 100, total: 200 }

/** Advances the clock to just before `limit` and then to it. The request is cut at the limit and made only once. */
async function assertCutAt(limit: number, fault: Fault, t: TestContext): Promise<void> {
  const clock = stopClock(t)
  vendor.set({ fault })
  const { calls, abandoned } = vendor
  const failed = failure(open({ timeout }))
  await until(() => vendor.calls === calls + 1)
  await settle()
  clock.advance(limit - 1)
  await settle()
  assert.equal(vendor.abandoned, abandoned)
  clock.advance(1)
  assert.equal((await failed).code, 'upstream_timeout')
  await until(() => vendor.abandoned === abandoned + 1)
  assert.equal(vendor.calls, calls + 1, 'a hung endpoint is not retried')
}

for (const fault of ['hang', 'stall'] as const) {
  test(`A44 a whole reply is cut off after the total: ${fault}`, (t) => assertCutAt(200, fault, t))
}

test('a hung endpoint is replaced by another, with a new first_token', async (t) => {
  const clock = stopClock(t)
  await using other = await startVendor()
  const gate = createGate()
  other.set({ gate: gate.pass })
  vendor.set({ fault: 'hang' })
  const { calls } = vendor
  const model = open({ endpoints: [{ url: vendor.url }, { url: other.url }], timeout: { ...timeout, total: 2000 } })
  const reply = pieces(model, { stream: true })
  await until(() => vendor.calls === calls + 1)
  clock.advance(100)
  await until(() => other.calls === 1)
  clock.advance(99)
  await settle()
  gate.open()
  assert.equal((await reply).at(-1)?.kind, 'end')
})

for (const engine of ['openai', 'ai-sdk']) {
  test(`A44 a comment in a stream is a sign of life: the first token may come after first_token, engine ${engine}`, async (t) => {
    const clock = stopClock(t)
    const begun = Promise.withResolvers<ServerResponse>()
    const url = await startServer(t, (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': thinking\n\n', () => begun.resolve(response))
    })
    const model =
      engine === 'openai'
        ? open({ endpoints: [{ url }], timeout })
        : openPackage(models, '@ai-sdk/openai-compatible', { url, timeout })
    const reply = pieces(model, { stream: true })
    const response = await begun.promise
    await settle()
    clock.advance(150)
    await settle()
    response.end('data: {"choices":[{"delta":{"content":"late"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    assert.deepEqual((await reply)[0], { kind: 'texts', texts: ['late'] })
  })
}

test('a whole reply may take longer than first_token before its response begins', async (t) => {
  const clock = stopClock(t)
  const begun = Promise.withResolvers<ServerResponse>()
  const url = await startServer(t, (_, response) => begun.resolve(response))
  const reply = pieces(open({ endpoints: [{ url }], timeout }))
  const response = await begun.promise
  await settle()
  clock.advance(150)
  await settle()
  response.end('{"choices":[{"index":0,"message":{"content":"late"},"finish_reason":"stop"}]}')
  assert.deepEqual((await reply)[0], { kind: 'texts', texts: ['late'] })
})

test('an unreachable endpoint is upstream_failed', async () => {
  assert.equal((await failure(open({ endpoints: [{ url: 'http://127.0.0.1:1/v1' }] }))).code, 'upstream_failed')
})

test('an abort cancels the request, and the run ends as cancelled', async () => {
  vendor.set({ fault: 'hang' })
  const { calls, abandoned } = vendor
  const leaving = new AbortController()
  const run = pieces(open(), { maxOutputTokens: 100 }, leaving.signal)
  await until(() => vendor.calls > calls)
  leaving.abort()
  assert.deepEqual(await run, [
    { kind: 'end', stopReason: 'cancelled', usage: { inputTokens: 5, outputTokens: 0, source: 'estimated' } },
  ])
  await until(() => vendor.abandoned > abandoned)
})

test('a caller who disconnected earlier causes no request', async () => {
  const before = vendor.calls
  assert.deepEqual(await pieces(open(), { maxOutputTokens: 100 }, AbortSignal.abort()), [
    { kind: 'end', stopReason: 'cancelled', usage: { inputTokens: 0, outputTokens: 0, source: 'estimated' } },
  ])
  assert.equal(vendor.calls, before)
})

test('requests beyond the connections are overloaded at once, until one is free', async () => {
  const gate = createGate()
  vendor.set({ gate: gate.pass })
  const { calls } = vendor
  const model = open({ connections: 2 })
  const both = [pieces(model), pieces(model)]
  await until(() => vendor.calls === calls + 2)
  const problem = await failure(model)
  assert.equal(problem.code, 'overloaded')
  assert.equal(problem.details.retryAfter, 1)
  gate.open()
  assert.equal((await Promise.all(both)).length, 2)
  assert.equal((await pieces(model)).length, 2)
})

test('endpoints share requests by weight', async () => {
  await using other = await startVendor()
  const before = vendor.calls
  const model = open({ endpoints: [{ url: vendor.url, weight: 2 }, { url: other.url }] })
  for (let asked = 0; asked < 9; asked++) await pieces(model)
  assert.deepEqual([vendor.calls - before, other.calls], [6, 3])
})
