import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { at, listAt, parseObject, valuesOf } from '../../../tests/support/json.ts'
import { openPackage, packages, type PackageName } from '../../../tests/support/provider-packages.ts'
import { createModels, readStream } from '../../../tests/support/vendor-run.ts'
import { startVendor } from '../../../tests/support/vendor.ts'
import type { Message, Prompt, Reasoning } from '../conversation.ts'
import { Problem } from '../../platform/problems.ts'
import type { RunLimits } from '../model.ts'
import type { AiSdkModelOptions } from './ai-sdk/ai-sdk.ts'

/** What reaches the vendor through a provider package. */

const vendor = await startVendor({ text: '{}' })
const models = createModels()
afterEach(() => models.close())
after(() => vendor.close())

const [anthropic, openAi, compatible] = packages
const limits = { maxOutputTokens: 100 }
const user: Message = { role: 'user', text: 'What time is it?' }

/** Fields of a body that a package sends only for streams. */
const ofStreams = ['stream', 'stream_options', 'eager_input_streaming']
const bodyReceived = (): unknown =>
  JSON.parse(JSON.stringify(vendor.last.body, (key, value: unknown) => (ofStreams.includes(key) ? undefined : value)))

/** The body that the vendor receives, which is the same for a stream. */
async function sent(
  name: PackageName,
  prompt: Partial<Prompt>,
  options: Partial<AiSdkModelOptions> = {},
  maxOutputTokens = 4000,
): Promise<unknown> {
  const model = openPackage(models, name, { url: vendor.url, ...options })
  const whole = { messages: [user], ...prompt }
  await model.run(whole, { maxOutputTokens }, new AbortController().signal)
  const body = vendor.last.body
  await Array.fromAsync(model.stream(whole, { maxOutputTokens }, new AbortController().signal))
  assert.equal(at(vendor.last.body, 'stream'), true)
  assert.deepEqual(bodyReceived(), body)
  return body
}

const fieldsOf = (body: unknown, ...names: readonly string[]) => names.map((name) => at(body, name))

const parameters = { type: 'object', properties: { zone: { type: 'string' } } }
const field = 'tools[0].parameters'
const tools = [
  { name: 'clock', description: 'The time', parameters, field },
  { name: 'die', parameters, field },
]
const text = (words: string) => ({ kind: 'text', text: words }) as const
const call = (id: string, tool: string, input: string) => ({ kind: 'call', id, tool, input }) as const
const image = {
  kind: 'file',
  mediaType: 'image/png',
  data: 'iVBORw0KGgo=',
  extent: { width: 1, height: 1 },
  field: 'x',
} as const

test('a prompt of only text is sent as before', async () => {
  const bodies = {
    [anthropic]: {
      model: 'm',
      max_tokens: 4000,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'What time is it?' }] }],
    },
    [openAi]: {
      model: 'm',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'What time is it?' }] }],
      max_output_tokens: 4000,
    },
    [compatible]: {
      model: 'm',
      max_tokens: 4000,
      messages: [{ role: 'user', content: 'What time is it?' }],
    },
  }
  for (const name of packages) assert.deepEqual(await sent(name, {}), bodies[name])
})

describe('tools', () => {
  test('are the caller’s when one is forced that has the name of a vendor’s own tool', async () => {
    const names = ['apply_patch', 'code_interpreter', 'file_search', 'image_generation', 'mcp', 'web_search']
    for (const name of [...names, 'web_search_preview', 'computer', 'shell', 'bash', 'web_fetch']) {
      const prompt = { tools: [...tools, { name, parameters, field }], toolChoice: { tool: name } }
      const ofOpenAi = await sent(openAi, prompt)
      assert.deepEqual(at(ofOpenAi, 'tools', 2), { type: 'function', name, parameters })
      const choice = at(ofOpenAi, 'tool_choice')
      const only = { type: 'function', name }
      assert.deepEqual(
        choice,
        at(choice, 'type') === 'function' ? only : { type: 'allowed_tools', mode: 'required', tools: [only] },
      )
      assert.deepEqual(at(await sent(compatible, prompt), 'tool_choice', 'function'), { name })
      assert.deepEqual(at(await sent(anthropic, prompt), 'tool_choice'), { type: 'tool', name })
    }
  })

  test('are strict as the caller says', async () => {
    const strict = { tools: [{ name: 'clock', parameters, field, strict: true }] }
    assert.equal(at(await sent(openAi, strict), 'tools', 0, 'strict'), true)
    assert.equal(at(await sent(compatible, strict), 'tools', 0, 'function', 'strict'), true)
    const known = { upstreamModel: 'claude-sonnet-4-5' }
    assert.equal(at(await sent(anthropic, strict, known), 'tools', 0, 'strict'), true)
  })
})

describe('formats', () => {
  const schema = {
    type: 'object',
    properties: { zone: { type: 'string' } },
    required: ['zone'],
    additionalProperties: false,
  }
  const format = { kind: 'schema', name: 'answer', schema, field: 'x' } as const

  test('a schema is sent in the form of each API, and is strict only if the caller says so', async () => {
    for (const [given, strict] of [
      [format, false],
      [{ ...format, strict: true }, true],
    ] as const) {
      const openAiFormat = at(await sent(openAi, { format: given }), 'text', 'format')
      assert.deepEqual(openAiFormat, { type: 'json_schema', name: 'answer', schema, strict })
      const compatibleFormat = at(await sent(compatible, { format: given }), 'response_format')
      assert.deepEqual(compatibleFormat, { type: 'json_schema', json_schema: { name: 'answer', schema, strict } })
    }
    const native = await sent(anthropic, { format }, { upstreamModel: 'claude-sonnet-4-5' })
    assert.deepEqual(at(native, 'output_config', 'format'), { type: 'json_schema', schema })
    const older = await sent(anthropic, { format })
    assert.deepEqual(at(older, 'tools', 0, 'input_schema'), schema)
    assert.equal(at(older, 'tool_choice', 'type'), 'any')
  })

  test('JSON without a schema is sent as such, to Anthropic as a tool that takes any object', async () => {
    const json = { format: { kind: 'json' } } as const
    assert.deepEqual(at(await sent(openAi, json), 'text', 'format'), { type: 'json_object' })
    assert.deepEqual(at(await sent(compatible, json), 'response_format'), { type: 'json_object' })
    const ofAnthropic = await sent(anthropic, json)
    assert.deepEqual(at(ofAnthropic, 'tools', 0, 'input_schema'), { type: 'object' })
    assert.equal(at(ofAnthropic, 'tool_choice', 'type'), 'any')
  })

  test('JSON that Anthropic returns as a call is a text', async () => {
    vendor.set({ calls: [{ id: 'toolu_1', name: 'json', input: '{"zone":"UTC"}' }] })
    const model = openPackage(models, anthropic, { url: vendor.url })
    for (const given of [format, { kind: 'json' }] as const) {
      const prompt: Prompt = { messages: [user], format: given }
      const { text: whole, parts } = await model.run(prompt, limits, new AbortController().signal)
      assert.deepEqual([whole, parts], ['{"zone":"UTC"}', undefined])
      const streamed = await Array.fromAsync(model.stream(prompt, limits, new AbortController().signal))
      const { pieces, stopReason } = readStream(streamed)
      assert.deepEqual([pieces, stopReason], [['{"zone":', '"UTC"}'], 'complete'])
    }
    vendor.set({ text: '{}' })
  })
})

const adaptive = (effort: string) => [{ type: 'adaptive' }, { effort }, 4000, undefined]
const enabled = (budget_tokens: number) => [{ type: 'enabled', budget_tokens }, undefined, 4000, undefined]

const ofAnthropic = async (reasoning: Reasoning, upstreamModel: string, more: Partial<AiSdkModelOptions> = {}) =>
  fieldsOf(
    await sent(anthropic, { reasoning }, { upstreamModel, ...more }),
    'thinking',
    'output_config',
    'max_tokens',
    'temperature',
  )

describe("what Anthropic's models do not take", () => {
  const signal = new AbortController().signal
  const cases: readonly (readonly [limits: Partial<RunLimits>, refused: string | undefined, thinks?: boolean])[] = [
    [{ temperature: 1.1 }, 'temperature'],
    [{ temperature: 1, topP: 0.9 }, 'top_p'],
    [{ temperature: 0, topP: 0.9 }, 'top_p'],
    [{ temperature: 0.9 }, 'temperature', true],
    [{ topP: 0.9 }, 'top_p', true],
    [{ temperature: 1, topP: 1 }, undefined],
    [{ topP: 0.9 }, undefined],
    [{ temperature: 1, topP: 1 }, undefined, true],
  ]

  test('is refused by name before the vendor is called, whole and streamed', async () => {
    const model = openPackage(models, anthropic, { url: vendor.url })
    const other = openPackage(models, openAi, { url: vendor.url })
    for (const [sampling, refused, thinks] of cases) {
      const prompt = { messages: [user], ...(thinks && { reasoning: { effort: 'low' } as const }) }
      const bounds = { maxOutputTokens: 4000, ...sampling }
      const requests = vendor.calls
      const isRefused = (error: unknown) =>
        error instanceof Problem && error.code === 'invalid_field' && error.details.field === refused
      for (const ask of [
        () => model.run(prompt, bounds, signal),
        () => Array.fromAsync(model.stream(prompt, bounds, signal)),
      ]) {
        if (refused === undefined) {
          await ask()
          if (sampling.temperature === undefined) assert.equal(at(vendor.last.body, 'top_p'), sampling.topP)
        } else await assert.rejects(ask, isRefused, JSON.stringify(sampling))
      }
      assert.equal(vendor.calls - requests, refused === undefined ? 2 : 0)
      // OpenAI's reasoning models take neither.
      const { temperature = 1, topP = 1 } = sampling
      const left = thinks && (temperature === 1 ? topP !== 1 && 'top_p' : 'temperature')
      const asking = other.run(prompt, bounds, signal)
      if (left) await assert.rejects(asking, { code: 'invalid_field', details: { field: left } })
      else await asking
    }
  })
})

test('fields of a vendor reach it through the packages that pass them on', async () => {
  const penalties = { frequency_penalty: 0.5, presence_penalty: -0.5 }
  assert.deepEqual(await sent(anthropic, { vendorFields: { top_k: 40 } }), {
    ...Object(await sent(anthropic, {})),
    top_k: 40,
  })
  assert.deepEqual(await sent(compatible, { vendorFields: penalties }), {
    ...Object(await sent(compatible, {})),
    ...penalties,
  })
  const takes = packages.map((name) => [...(openPackage(models, name, { url: vendor.url }).takes ?? [])])
  assert.deepEqual(takes, [['top_k', 'inference_geo'], ['service_tier'], [...Object.keys(penalties), 'service_tier']])
  // Its package leaves it out for a model that thinks.
  const thinking = sent(anthropic, { vendorFields: { top_k: 40 }, reasoning: { effort: 'low' } })
  await assert.rejects(thinking, (error) => error instanceof Problem && error.details.field === 'top_k')
})

test('what a package has left out of a request is in the log, unless it is refused', async () => {
  const model = openPackage(models, '@ai-sdk/openai', {
    url: vendor.url,
    package: 'another',
    upstreamModel: 'o3',
  })
  const bounds = { maxOutputTokens: 4000, topP: 0.9, temperature: 1, seed: 1, stop: ['###'] }
  const { signal } = new AbortController()
  const prompt = { messages: [user] }
  for (const ask of [
    () => model.run(prompt, bounds, signal),
    () => Array.fromAsync(model.stream(prompt, bounds, signal)),
  ]) {
    models.lines.length = 0
    await ask()
    const lines = models.lines.map((line) => parseObject(line)).filter(({ fields }) => fields !== undefined)
    assert.deepEqual(
      lines.map(({ fields }) => fields),
      [['temperature', 'topP']],
    )
  }
})

describe('reasoning', () => {
  test('is an effort, or a budget within the most tokens, for Anthropic', async () => {
    assert.deepEqual(await ofAnthropic({ effort: 'max' }, 'claude-opus-4-6'), adaptive('max'))
    assert.deepEqual(await ofAnthropic({ effort: 'minimal' }, 'claude-opus-4-6'), adaptive('low'))
    assert.deepEqual(await ofAnthropic({ budgetTokens: 2000 }, 'claude-opus-4-6'), enabled(2000))
    assert.deepEqual(await ofAnthropic({ effort: 'low' }, 'claude-sonnet-4-5'), enabled(3200))
    assert.deepEqual(await ofAnthropic({ budgetTokens: 50_000 }, 'claude-sonnet-4-5'), enabled(3999))
    // This model refuses a budget; the package would take it away without giving its tokens back.
    assert.deepEqual(await ofAnthropic({ budgetTokens: 2000 }, 'claude-opus-5-5'), adaptive('low'))
  })

  test('is up to the model, with a summary if one is asked for, for Anthropic', async () => {
    const adaptiveOnly = [{ type: 'adaptive' }, undefined, 4000, undefined]
    assert.deepEqual(await ofAnthropic({}, 'claude-opus-4-6'), adaptiveOnly)
    const summarized = [{ type: 'adaptive', display: 'summarized' }, { effort: 'low' }, 4000, undefined]
    assert.deepEqual(await ofAnthropic({ effort: 'low', summary: 'auto' }, 'claude-opus-5-5'), summarized)
    // This model has no adaptive thinking.
    assert.deepEqual((await ofAnthropic({ summary: 'auto' }, 'claude-sonnet-4-5'))[0], undefined)
  })

  test('without room for a budget is left to the model', async () => {
    const body = await sent(anthropic, { reasoning: { effort: 'high' } }, { upstreamModel: 'claude-3-7-sonnet' }, 1024)
    assert.deepEqual(fieldsOf(body, 'thinking', 'max_tokens'), [undefined, 1024])
  })

  test('is an effort for OpenAI, with reasoning that can be sent back', async () => {
    const body = await sent(openAi, { reasoning: { effort: 'max', summary: 'auto' } })
    assert.deepEqual(fieldsOf(body, 'reasoning', 'store', 'include', 'temperature', 'max_output_tokens'), [
      { effort: 'xhigh', summary: 'auto' },
      false,
      ['reasoning.encrypted_content'],
      undefined,
      4000,
    ])
    const budget = await sent(openAi, { reasoning: { budgetTokens: 2000 } })
    assert.deepEqual(fieldsOf(budget, 'reasoning', 'max_output_tokens'), [{ effort: 'low' }, 4000])
    const chat = await sent(compatible, { reasoning: { budgetTokens: 2000 } })
    assert.deepEqual(fieldsOf(chat, 'reasoning_effort', 'max_tokens', 'temperature'), ['low', 4000, undefined])
  })

  test('is asked not to happen only of a model that is known to reason', async () => {
    const reasoning = { effort: 'none' } as const
    for (const name of packages) assert.deepEqual(await sent(name, { reasoning }), await sent(name, {}), name)
    const reasons = { reasons: true }
    assert.deepEqual(at(await sent(anthropic, { reasoning }, reasons), 'thinking'), { type: 'disabled' })
    assert.equal(at(await sent(compatible, { reasoning }, reasons), 'reasoning_effort'), 'none')
    const known = { ...reasons, upstreamModel: 'gpt-5.1' }
    assert.deepEqual(at(await sent(openAi, { reasoning }, known), 'reasoning'), { effort: 'none' })
  })
})

describe('caches and files', () => {
  test('marks for the cache reach Anthropic, and no other', async () => {
    const mark = { cache: { ttl: '1h' } } as const
    const prompt: Prompt = {
      messages: [
        { role: 'system', parts: [{ ...text('Be brief.'), ...mark }] },
        user,
        { role: 'assistant', parts: [{ ...call('call_1', 'clock', '{}'), ...mark }] },
        { role: 'user', parts: [{ kind: 'result', callId: 'call_1', content: [{ ...text('noon'), cache: {} }] }] },
      ],
      tools: [{ name: 'clock', parameters, field, ...mark }],
    }
    const body = await sent(anthropic, prompt)
    const long = { type: 'ephemeral', ttl: '1h' }
    assert.deepEqual(at(body, 'system', 0, 'cache_control'), long)
    assert.deepEqual(at(body, 'tools', 0, 'cache_control'), long)
    assert.deepEqual(at(body, 'messages', 1, 'content', 0, 'cache_control'), long)
    assert.deepEqual(at(body, 'messages', 2, 'content', 0, 'cache_control'), { type: 'ephemeral' })
    for (const name of [openAi, compatible]) assert.doesNotMatch(JSON.stringify(await sent(name, prompt)), /ephemeral/)
  })

  test('the key of the cache reaches OpenAI', async () => {
    for (const name of [openAi, compatible]) {
      assert.equal(at(await sent(name, { cacheKey: 'k' }), 'prompt_cache_key'), 'k')
    }
    assert.doesNotMatch(JSON.stringify(await sent(anthropic, { cacheKey: 'k' })), /"k"/)
  })

  test('how much to write reaches OpenAI', async () => {
    assert.match(JSON.stringify(await sent(openAi, { verbosity: 'low' })), /"verbosity":"low"/)
  })

  test('images with their detail, and documents with their name', async () => {
    const pdf = { ...image, mediaType: 'application/pdf', extent: { pages: 1 }, name: 'a.pdf' } as const
    const parts = [{ ...image, detail: 'low', cache: {} }, pdf] as const
    const messages: readonly Message[] = [{ role: 'user', parts }]
    const url = (mediaType: string) => `data:${mediaType};base64,${image.data}`
    const source = (media_type: string) => ({ type: 'base64', media_type, data: image.data })
    assert.deepEqual(at(await sent(anthropic, { messages }), 'messages', 0, 'content'), [
      { type: 'image', source: source('image/png'), cache_control: { type: 'ephemeral' } },
      { type: 'document', source: source('application/pdf'), title: 'a.pdf' },
    ])
    assert.deepEqual(at(await sent(openAi, { messages }), 'input', 0, 'content'), [
      { type: 'input_image', image_url: url('image/png'), detail: 'low' },
      { type: 'input_file', filename: 'a.pdf', file_data: url('application/pdf') },
    ])
    assert.deepEqual(at(await sent(compatible, { messages }), 'messages', 0, 'content'), [
      { type: 'image_url', image_url: { url: url('image/png') } },
      { type: 'file', file: { filename: 'a.pdf', file_data: url('application/pdf') } },
    ])
  })
})

test('a turn of reasoning that is not sent back leaves nothing behind: vendors refuse an empty turn', async () => {
  const unsigned = { kind: 'reasoning', text: 'Hm.' } as const
  const body = await sent(compatible, { messages: [user, { role: 'assistant', parts: [unsigned] }, user] })
  assert.deepEqual(valuesOf(listAt(body, 'messages'), 'role'), ['user', 'user'])
})

test('blank texts are not sent, nor turns without anything else: Anthropic refuses both', async () => {
  const messages: readonly Message[] = [
    { role: 'system', text: '' },
    user,
    { role: 'assistant', parts: [text('\n\n'), call('call_1', 'clock', '{}')] },
    { role: 'user', parts: [{ kind: 'result', callId: 'call_1', content: [] }, text(' ')] },
    { role: 'assistant', text: '' },
    { role: 'user', text: ' \n' },
    { role: 'system', parts: [text(''), { ...text(' '), cache: {} }] },
    { role: 'assistant', parts: [text('Noon.'), text(''), text('\n'), text('Or so.')] },
    user,
  ]
  const body = await sent(anthropic, { messages })
  assert.equal(at(body, 'system'), undefined)
  assert.deepEqual(at(body, 'messages'), [
    { role: 'user', content: [{ type: 'text', text: user.text }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'clock', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '' }] },
    { role: 'assistant', content: ['Noon.', '\n', 'Or so.'].map((words) => ({ type: 'text', text: words })) },
    { role: 'user', content: [{ type: 'text', text: user.text }] },
  ])
})
