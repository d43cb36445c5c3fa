import assert from 'node:assert/strict'
import { after } from 'node:test'
import { shippedModel, startService, upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startScriptedUpstream } from './scripted-upstream.mjs'

// The frameworks report their runs to their makers only if they are told to. No environment shall tell them.
for (const name of Object.keys(process.env))
  if (/^(LANGSMITH|LANGCHAIN|OPENAI|ANTHROPIC)_/.test(name)) delete process.env[name]

/**
 * The service of all examples, until the end of the tests. Its models are `fast`, behind a stand-in for chat completions; `claude`,
 * behind one for Anthropic's messages; `vectors`, behind one for embeddings; and the local model `tiny`. The examples get
 * `{ apiKey, baseURL }`, all that changes in them; the address ends in /v1.
 */
export const openStage = () => (stage ??= open())
let stage

async function open() {
  const upstream = await startScriptedUpstream()
  const price = { input: '1', output: '4', cached_input: '0.1' }
  const { url } = upstream
  const claude = { id: 'claude', engine: 'ai-sdk', package: '@ai-sdk/anthropic', upstream_model: 'claude-opus-4-6' }
  const vectors = { id: 'vectors', kind: 'embeddings', max_output_tokens: undefined, price: { input: '0.02' } }
  const service = await startService({
    models: [
      upstreamModel(url, { price }),
      upstreamModel(url, { ...claude, endpoints: undefined, url, key: 'sk-vendor', price }),
      upstreamModel(url, vectors),
      shippedModel(),
    ],
  })
  after(async () => {
    await service.close()
    await upstream.close()
  })
  await until(async () => (await service.call('/readyz', undefined)).status === 200)

  /** Runs an example as a new customer. Returns its result and the customer's ledger, and asserts that nothing is held. */
  async function run(example) {
    const { accountId, key } = await service.customer()
    const result = await example({ apiKey: key, baseURL: `${service.url}/v1` })
    const { rows, holds } = await service.books(accountId)
    assert.equal(holds, 0)
    return { result, rows }
  }

  /**
   * Runs an example while the upstream gives these replies in turn. Asserts that each was requested once, and charged once and
   * exactly. Returns the result and the requests that the upstream received.
   */
  const play = async (replies, example, model = 'fast') => {
    upstream.script(replies)
    const { result, rows } = await run(example)
    assert.equal(upstream.requests.length, replies.length)
    const cost = 40n * 1_000_000n + 60n * 100_000n + 20n * 4_000_000n
    assert.deepEqual(
      rows.map((row) => [row.model, row.cost, row.stopReason]),
      replies.map(() => [model, cost, 'complete']),
    )
    return { result, requests: upstream.requests }
  }

  /** Runs an example that makes one request of the local model. Asserts its charge, and returns the result. */
  const playLocally = async (example) => {
    const { result, rows } = await run(example)
    assert.equal(rows.length, 1)
    const [{ model, stopReason, usageSource, inputTokens, outputTokens, cost }] = rows
    assert.deepEqual([model, stopReason, usageSource], ['tiny', 'complete', 'model'])
    assert.equal(cost, BigInt(inputTokens) * 100_000n + BigInt(outputTokens) * 400_000n)
    return result
  }

  /** Runs an example that makes one request for embeddings. Asserts its charge, and returns the result and the request. */
  const playEmbeddings = async (example) => {
    upstream.script([])
    const { result, rows } = await run(example)
    assert.deepEqual(
      rows.map((row) => [row.model, row.cost, row.inputTokens, row.outputTokens]),
      [['vectors', 9n * 20_000n, 9, 0]],
    )
    assert.equal(upstream.requests.length, 1)
    return { result, request: upstream.requests[0] }
  }

  return { play, playEmbeddings, playLocally }
}

/** A tool, the question that leads to two calls of it at once, and the replies of a model. */
export const question = 'How is the weather in Bern and Zürich?'
export const description = 'The weather in a city'
export const weatherIn = ({ city }) => `Rain in ${city}`
const calls = [
  { id: 'call_1', name: 'weather', input: '{"city":"Bern"}' },
  { id: 'call_2', name: 'weather', input: '{"city":"Zürich"}' },
]
export const answer = 'It rains in both.'

/** Calls as chat completions write them. */
const chatCalls = calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } }))
/** What the model says before its calls, its replies, and the text of all of them. */
export const loops = [
  { said: null, replies: [{ calls }, { text: answer }], text: answer },
  {
    said: 'Let me see.',
    replies: [{ text: 'Let me see.', calls }, { text: answer }],
    text: `Let me see.${answer}`,
  },
]

/** Asserts that the upstream received the tool and the question, and then the calls with their results. */
export function assertLooped([first, second], said, stream = false) {
  for (const request of [first, second]) {
    assert.equal(request.stream ?? false, stream)
    assert.equal(request.tools.length, 1)
    const [{ type, function: tool }] = request.tools
    assert.deepEqual([type, tool.name, tool.description], ['function', 'weather', description])
    assert.equal(tool.parameters.properties.city.type, 'string')
    assert.deepEqual(tool.parameters.required, ['city'])
  }
  assert.deepEqual(first.messages.at(-1), { role: 'user', content: question })
  assert.deepEqual(second.messages, [
    ...first.messages,
    { role: 'assistant', content: said, tool_calls: chatCalls },
    { role: 'tool', tool_call_id: 'call_1', content: 'Rain in Bern' },
    { role: 'tool', tool_call_id: 'call_2', content: 'Rain in Zürich' },
  ])
}

/** What the model thinks before its calls. */
export const thinking = { thinking: 'Two cities.', signature: 'c2ln' }

/** Asserts the same of Anthropic's messages, and that the thoughts came back with their signatures. */
export function assertClaudeLooped([first, second], said, stream = false, thoughts = []) {
  for (const request of [first, second]) {
    assert.equal(request.stream ?? false, stream)
    const [{ name, description: about, input_schema: schema }, ...others] = request.tools
    assert.deepEqual([name, about, others], ['weather', description, []])
    assert.deepEqual([schema.properties.city.type, schema.required], ['string', ['city']])
  }
  const asked = { role: 'user', content: [{ type: 'text', text: question }] }
  const texts = said === null ? [] : [{ type: 'text', text: said }]
  const uses = calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: JSON.parse(input) }))
  const results = ['Bern', 'Zürich'].map((city, index) => [calls[index].id, `Rain in ${city}`])
  assert.deepEqual(first.messages, [asked])
  assert.deepEqual(second.messages.slice(0, -1), [
    asked,
    { role: 'assistant', content: [...thoughts, ...texts, ...uses] },
  ])
  assert.deepEqual(
    second.messages.at(-1).content.map(({ tool_use_id: id, content }) => [id, content]),
    results,
  )
}

/** What a structured reply says about a note, and the reply. */
export const topics = ['tax', 'pension', 'other']
export const note = 'Anna must file her return by Friday.'
export const classified = { topic: 'tax', urgent: true }
export const classification = [{ text: '{"topic":"tax","urgent":true}' }]
export const extraction = [{ calls: [{ id: 'call_1', name: 'Note', input: '{"topic":"tax","urgent":true}' }] }]

/** Asserts the schema of a reply, or of the arguments of the tool that was forced. */
export function assertSchema(schema) {
  assert.equal(schema.type, 'object')
  assert.deepEqual(schema.properties.topic.enum, topics)
  assert.equal(schema.properties.urgent.type, 'boolean')
  assert.deepEqual(schema.required, ['topic', 'urgent'])
}

/** Asserts that the upstream was asked for a reply in the schema. */
export function assertFormat({ response_format: format, tools }) {
  assert.equal(format.type, 'json_schema')
  assertSchema(format.json_schema.schema)
  assert.equal(tools, undefined)
}

/** Asserts that the upstream was asked for a call of the tool `Note`. */
export function assertForced({ tools, tool_choice: choice, response_format: format }) {
  assert.equal(tools.length, 1)
  assert.deepEqual(choice, { type: 'function', function: { name: 'Note' } })
  assertSchema(tools[0].function.parameters)
  assert.equal(format, undefined)
}

/** Asserts that a reply of the local model follows the schema, whatever it says. */
export function assertClassified({ topic, urgent, ...others }) {
  assert.ok(
    topics.some((each) => each === topic),
    topic,
  )
  assert.equal(typeof urgent, 'boolean')
  assert.deepEqual(others, {})
}
