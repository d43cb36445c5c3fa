import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { modelLists, startModelServer, type Answers } from '../../../tests/support/model-lists.ts'
import { until } from '../../../tests/support/until.ts'
import { askModels, NoModelList, type AskedServer } from './ask.ts'

const server = await startModelServer({})
const other = await startModelServer(modelLists.openai)
after(() => Promise.all([server.close(), other.close()]))

const { signal } = new AbortController()

function ask(answers: Answers, changes: Partial<AskedServer> = {}, wanted?: readonly string[]) {
  server.answer(answers)
  server.asked.length = 0
  const asked = { url: `${server.origin}/v1`, api: 'openai', ...changes } as const
  return askModels(asked, { signal, ...(wanted && { wanted: new Set(wanted) }) })
}

/** Without what is missing. */
const stated = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const expected: readonly [keyof typeof modelLists, object[], AskedServer['api']?][] = [
  ['openai', [model('gpt-4o'), model('text-embedding-3-small')]],
  [
    'openRouter',
    [
      model('vendor/large', {
        can: { tools: true, json: true, reasoning: true, images: true, verbosity: false },
        context: 128_000,
        maxOutputTokens: 16_384,
        takes: [],
      }),
      model('vendor/small:free', {
        can: { tools: false, json: false, reasoning: false, images: false, verbosity: false },
        context: 8192,
        takes: ['min_p', 'top_k'],
      }),
      model('vendor/painter', { can: { images: false }, context: 4096, writesText: false }),
    ],
  ],
  [
    'liteLlm',
    [
      model('team-chat', {
        can: { tools: true, json: true, images: false, reasoning: false },
        context: 32_768,
        maxOutputTokens: 16_384,
      }),
      model('team-embed', { context: 8191, writesText: false }),
      model('team-new'),
    ],
  ],
  ['vllm', [model('Qwen/Qwen3-8B', { context: 40_960 })]],
  [
    'llamaServer',
    [model('gemma.gguf', { can: { tools: false, images: false }, context: 8192, trainedContext: 131_072 })],
  ],
  [
    'ollama',
    [
      model('llama3.2:latest', {
        can: { tools: true, images: false, reasoning: false },
        context: 16_384,
        trainedContext: 131_072,
      }),
      model('gemma3', { can: { tools: false, images: true, reasoning: true }, trainedContext: 131_072 }),
      model('nomic-embed-text', {
        can: { tools: false, images: false, reasoning: false },
        trainedContext: 2048,
        writesText: false,
      }),
    ],
  ],
  [
    'mistral',
    [
      model('mistral-small', { can: { tools: true, images: false }, context: 131_072 }),
      model('mistral-embed', { can: { tools: false, images: false }, context: 8192, writesText: false }),
    ],
  ],
  [
    'anthropic',
    [
      model('model-new', {
        can: { json: true, images: true, documents: true, reasoning: false },
        context: 200_000,
        maxOutputTokens: 64_000,
      }),
      model('model-old'),
    ],
    'anthropic',
  ],
  [
    'tollgate',
    [
      model('fast', {
        can: {
          tools: true,
          forced_tools: true,
          json: true,
          images: false,
          documents: false,
          reasoning: false,
          verbosity: false,
        },
        context: 32_768,
        maxOutputTokens: 4096,
      }),
      model('tiny', {
        can: {
          tools: false,
          forced_tools: true,
          json: true,
          images: false,
          documents: false,
          reasoning: false,
          verbosity: false,
        },
        context: 1024,
        maxOutputTokens: 512,
      }),
    ],
  ],
]

function model(id: string, findings: object = {}): object {
  return { id, can: {}, writesText: true, ...findings }
}

describe('the models that a server reports', () => {
  for (const [name, models, api = 'openai'] of expected) {
    test(`in the form of ${name}`, async () => {
      assert.deepEqual(stated(await ask(modelLists[name], { api })), stated(models))
    })
  }

  test('with those that say by their kind that they write no text, and without what is no model', async () => {
    const text = [{ type: 'chat' }, { type: 'text-to-text' }, { capabilities: { chat_completion: true } }]
    const others = [
      { type: 'image' },
      { task: 'feature-embedding' },
      { model_type: 'rerank' },
      { supports_chat: false },
    ]
    const data = [null, 7, { id: 7 }, ...[...text, ...others].map((each, index) => ({ id: `m${index}`, ...each }))]
    const models = await ask({ 'GET /v1/models': { json: { data } } })
    assert.deepEqual(
      models.map(({ id, writesText }) => [id, writesText]),
      data.slice(3).map((_, index) => [`m${index}`, index < text.length]),
    )
    await assert.rejects(ask({ 'GET /v1/models': { json: { data: [null, 7] } } }), NoModelList)
  })

  test('with the key of the server, in the header that it expects', async () => {
    await ask(modelLists.llamaServer, { key: 'k1' })
    assert.deepEqual(server.asked, ['GET /v1/models with k1', 'GET /props with k1'])
    await ask(modelLists.anthropic, { key: 'k2', api: 'anthropic' })
    assert.deepEqual(server.asked, [
      'GET /v1/models?limit=1000 with k2',
      'GET /v1/models?limit=1000&after_id=model-new with k2',
    ])
  })

  test('Ollama is asked about the wanted models only, and a server that is not Ollama once', async () => {
    await ask(modelLists.ollama, {}, ['gemma3'])
    assert.deepEqual(server.asked.slice(2), ['POST /api/show gemma3'])
    await ask(modelLists.openai)
    assert.deepEqual(server.asked.slice(2), ['POST /api/show gpt-4o'])
  })

  test('ten thousand of them', async () => {
    const data = Array.from({ length: 10_000 }, (_, index) => ({ id: `m${index}`, context_length: 8192 }))
    const models = await ask({ 'GET /v1/models': { json: { data } } })
    assert.equal(models.length, 10_000)
    assert.deepEqual(stated(models.at(-1)), model('m9999', { context: 8192 }))
  })

  test('values of another type are ignored, and names that cannot be written are left out', async () => {
    const odd = {
      id: 'odd',
      context_length: '8192',
      supported_parameters: 'tools',
      architecture: null,
      capabilities: { function_calling: 'yes', vision: 1, image_input: true, completion_chat: null },
      max_model_len: -5,
      meta: { n_ctx: 1.5, n_ctx_train: 1e300 },
    }
    const data = [odd, { id: 'line\nbreak' }, { id: 7 }, {}, { id: 'x'.repeat(201) }]
    assert.deepEqual(stated(await ask({ 'GET /v1/models': { json: { data } } })), [model('odd')])
  })
})

describe('a server without a list of models', () => {
  const faults: readonly [string, Answers[string], RegExp, number?][] = [
    ['another status', { status: 500 }, /^answered with status 500$/, 500],
    ['no list', { status: 404 }, /^has no list of models there \(404\)$/, 404],
    ['no key', { status: 401 }, /^needs a key \(401\)$/, 401],
    ['an object', { json: { error: 'x' } }, /^answered with something other than a list of models$/],
    ['a page', { page: '<!doctype html><title>Sign in</title>' }, /something other than a list/],
    ['a body without an end', 'endless', /^sent no usable response: more bytes/],
    ['a text', { json: 'hello' }, /something other than a list/],
    ['a list of something else', { json: { data: ['a', 1] } }, /something other than a list/],
    ['an empty list', { json: { data: [] } }, /^lists no models$/],
    ['too many bytes', { json: { data: 'x'.repeat(17 * 1024 * 1024) } }, /^sent no usable response: more bytes/],
  ]
  for (const [name, answer, message, status] of faults) {
    test(`it sends ${name}`, async () => {
      await assert.rejects(ask({ 'GET /v1/models': answer }), (error) => {
        assert.ok(error instanceof NoModelList)
        assert.match(error.message, message)
        assert.equal(error.status, status)
        return true
      })
    })
  }

  test('it refuses the key', async () => {
    await assert.rejects(ask({ 'GET /v1/models': { status: 401 } }, { key: 'wrong' }), /refuses the key \(401\)/)
  })

  test('it redirects: the key is sent nowhere else', async () => {
    const answer = { status: 307, location: `${other.origin}/v1/models` }
    await assert.rejects(ask({ 'GET /v1/models': answer }, { key: 'k' }), /redirects to another address \(307\)/)
    assert.deepEqual(other.asked, [])
  })

  test('nothing listens', async () => {
    await assert.rejects(ask({}, { url: 'http://127.0.0.1:1/v1' }), /^NoModelList: cannot be reached: /)
  })

  for (const slow of ['hangs', 'stalls'] as const) {
    test(`it ${slow}: the time for all requests is limited`, async () => {
      server.answer({ 'GET /v1/models': slow })
      const asking = askModels({ url: `${server.origin}/v1`, api: 'openai' }, { signal, deadline: 1 })
      await assert.rejects(asking, /^NoModelList: did not answer in time$/)
    })
  }

  test('it hangs after its list: the list alone is no answer once the time is up', async () => {
    server.answer({ ...modelLists.ollama, 'POST /api/show llama3.2:latest': 'hangs' })
    const asking = askModels({ url: `${server.origin}/v1`, api: 'openai' }, { signal, deadline: 1000 })
    await assert.rejects(asking, /^NoModelList: did not answer in time$/)
  })

  test('it hangs: a stop ends the request', async () => {
    const stop = new AbortController()
    server.answer({ 'GET /v1/models': 'hangs' })
    server.asked.length = 0
    const asking = askModels({ url: `${server.origin}/v1`, api: 'openai' }, { signal: stop.signal })
    await until(() => server.asked.length > 0)
    stop.abort()
    await assert.rejects(asking, NoModelList)
  })
})
