import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestEngine, promptOf } from '../../../tests/support/engine.ts'
import { parseObject } from '../../../tests/support/json.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import type { Delta, Prompt, Tool } from '../conversation.ts'
import type { RunLimits, StreamEnd, StreamPart } from '../model.ts'
import { endPart } from './call-parts.ts'
import { asCall, forcedTools } from './forced-call.ts'

const toolOf = (name: string, properties: object = {}, index = 0): Tool => ({
  name,
  parameters: { type: 'object', properties, required: Object.keys(properties) },
  field: `tools[${index}].parameters`,
})
const clock = toolOf('clock', { zone: { enum: ['Europe/Zurich'] } })
const note = toolOf('note', { topic: { type: 'string', maxLength: 20 }, urgent: { type: 'boolean' } }, 1)

test('the tools of which a reply must call one are those that the choice leaves', () => {
  const tools = [clock, note]
  assert.deepEqual(forcedTools({ tools, toolChoice: { tool: 'note' } }), [note])
  assert.deepEqual(forcedTools({ tools, toolChoice: 'required' }), tools)
  assert.deepEqual(forcedTools({ tools, toolChoice: 'none' }), [])
  assert.deepEqual(forcedTools({}), [])
})

async function read(tools: readonly Tool[], ...texts: string[]) {
  async function* parts(): AsyncGenerator<StreamPart> {
    for (const text of texts) yield { kind: 'texts', texts: [text] }
    yield endPart('complete', 3, texts.length)
  }
  const all = await Array.fromAsync(asCall(parts(), tools))
  assert.deepEqual(all.at(-1), endPart('complete', 3, texts.length))
  const deltas = all.slice(0, -1).flatMap((part) => (part.kind === 'deltas' ? part.deltas : assert.fail(part.kind)))
  return deltas.map((delta) => (delta.kind === 'call' ? delta.tool : delta.kind === 'input' && delta.json))
}

test('the text of a reply is read as a call, however it is cut', async () => {
  assert.deepEqual(await read([clock], '{"zo', 'ne": "x"}'), ['clock', '{"zo', 'ne": "x"}'])
  assert.deepEqual(await read([clock, note], 'no', 'te {"a b"', ': 1}'), ['note', '{"a b"', ': 1}'])
  assert.deepEqual(await read([clock, note], 'clock', ' ', '{}'), ['clock', '{}'])
  assert.deepEqual(await read([clock, note], 'clock {"a": "b c"}'), ['clock', '{"a": "b c"}'])
  assert.deepEqual(await read([clock, note], 'clo'), [])
  assert.deepEqual(await read([clock]), [])
})

describe('a local model that is forced to call a tool', () => {
  const engine = fixture(() => createTestEngine())
  setUp(() => engine.ready())

  const { signal } = new AbortController()
  const prompt = promptOf('When do we meet Anna Berg?')
  const one: Prompt = { ...prompt, tools: [clock], toolChoice: { tool: 'clock' } }
  const several: Prompt = { ...prompt, tools: [clock, note], toolChoice: 'required' }
  const limits: RunLimits = { maxOutputTokens: 200, temperature: 1, seed: 1 }

  async function stream(asked: Prompt, changes: Partial<RunLimits> = {}) {
    const deltas: Delta[] = []
    let end: StreamEnd | undefined
    for await (const part of engine.stream(asked, { ...limits, ...changes }, signal)) {
      if (part.kind === 'deltas') deltas.push(...part.deltas)
      else if (part.kind === 'end') end = part
      else assert.fail(`${part.kind} beside a call`)
    }
    const input = deltas.map((delta) => (delta.kind === 'input' ? delta.json : '')).join('')
    return { deltas, input, end }
  }

  test('replies with that call and nothing else, whole and streamed', async () => {
    const { text, parts, stopReason, usage } = await engine.run(one, limits, signal)
    assert.deepEqual([text, parts?.length, stopReason], ['', 1, 'complete'])
    const [call] = parts ?? []
    assert.ok(call?.kind === 'call')
    assert.match(call.id, /^call_[0-9a-f]{24}$/)
    assert.deepEqual([call.tool, JSON.parse(call.input)], ['clock', { zone: 'Europe/Zurich' }])
    const streamed = await stream(one)
    assert.deepEqual([streamed.input, streamed.end?.usage], [call.input, usage])
    const [first, ...others] = streamed.deltas
    assert.ok(first?.kind === 'call' && first.tool === 'clock' && first.id !== call.id)
    assert.ok(others.length > 1 && others.every(({ kind }) => kind === 'input'))
  })

  test('chooses among several tools, and the name of the tool is part of the tokens', async () => {
    const chosen = new Set<string>()
    const seeds = Array.from({ length: 8 }, (_, seed) => seed)
    const replies = await Promise.all(seeds.map((seed) => engine.run(several, { ...limits, seed }, signal)))
    for (const { text, parts: [call] = [], stopReason } of replies) {
      assert.deepEqual([text, stopReason], ['', 'complete'])
      assert.ok(call?.kind === 'call')
      chosen.add(call.tool)
      const names = Object.keys(parseObject(call.input))
      assert.deepEqual(names, call.tool === 'clock' ? ['zone'] : ['topic', 'urgent'])
    }
    assert.ok(chosen.isSubsetOf(new Set(['clock', 'note'])), [...chosen].join())
    const begun = await engine.run(several, { ...limits, maxOutputTokens: 1 }, signal)
    assert.deepEqual(
      [begun.text, begun.parts, begun.stopReason, begun.usage.outputTokens],
      ['', undefined, 'max_output_tokens', 1],
    )
  })

  test('generates no more than its limit, and never more deltas than tokens besides the beginning of the call', async () => {
    const { deltas, end: whole } = await stream(one)
    const all = whole?.usage.outputTokens ?? 0
    assert.ok(all > 3 && deltas.length <= all + 1)
    for (let most = 1; most < all; most += 1) {
      const { deltas: some, input, end } = await stream(one, { maxOutputTokens: most })
      assert.deepEqual([end?.stopReason, end?.usage.outputTokens], ['max_output_tokens', most])
      assert.ok(
        some.length <= most + 1 && '{"zone": "Europe/Zurich"}'.replace(' ', '').startsWith(input.replace(' ', '')),
      )
    }
  })

  test('ignores stop strings, which end texts only', async () => {
    const { input, end } = await stream(one, { stop: ['zone', '{', 'E'] })
    assert.deepEqual([JSON.parse(input), end?.stopReason], [{ zone: 'Europe/Zurich' }, 'complete'])
  })

  test('counts what it reads, and without a choice the tools have no effect', async () => {
    for (const asked of [one, several]) {
      const { tokens } = await engine.count(asked)
      assert.equal((await engine.run(asked, limits, signal)).usage.inputTokens, tokens)
    }
    const none = await engine.count({ ...several, toolChoice: 'none' })
    assert.deepEqual(none, await engine.count(prompt))
    const { text, parts } = await engine.run({ ...several, toolChoice: 'none' }, limits, signal)
    assert.ok(text !== '' && parts === undefined)
  })

  test('refuses parameters that it cannot enforce when it counts and when it runs', async () => {
    const strange = toolOf('strange', { a: { type: 'string', pattern: 'x' } })
    const asked: Prompt = { ...prompt, tools: [strange], toolChoice: 'required' }
    await assert.rejects(engine.count(asked), /tools\[0\].parameters.properties.a.pattern/)
    await assert.rejects(engine.run(asked, limits, signal), /tools\[0\].parameters.properties.a.pattern/)
    assert.equal((await engine.count({ ...asked, toolChoice: 'none' })).exact, true)
  })
})
