import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { createGate } from '../../../tests/support/gate.ts'
import { openPackage, packages, type PackageName } from '../../../tests/support/provider-packages.ts'
import { until } from '../../../tests/support/until.ts'
import type { VendorOptions } from '../../../tests/support/vendor-options.ts'
import { createModels, prompt, readStream } from '../../../tests/support/vendor-run.ts'
import { startVendor } from '../../../tests/support/vendor.ts'
import type { Delta } from '../conversation.ts'
import type { Model, StreamPart } from '../model.ts'

/** What provider packages make of replies with calls and reasoning, in each API that the stand-in speaks. */

const vendor = await startVendor()
const models = createModels()
afterEach(async () => {
  vendor.set({})
  await models.close()
})
after(() => vendor.close())

const open = (name: PackageName): Model => openPackage(models, name, { url: vendor.url })
const limits = { maxOutputTokens: 100 }
const run = (name: PackageName, options: VendorOptions) => {
  vendor.set(options)
  return open(name).run(prompt, limits, new AbortController().signal)
}
const stream = async (name: PackageName, options: VendorOptions) => {
  vendor.set(options)
  return readStream(await Array.fromAsync(open(name).stream(prompt, limits, new AbortController().signal)))
}

const call = (id: string, tool: string): Delta => ({ kind: 'call', id, tool })
const input = (json: string): Delta => ({ kind: 'input', json })
const thinking = (text: string): Delta => ({ kind: 'reasoning', text })
const signature: Delta = { kind: 'signature', signature: 'c2ln' }

const clock = { id: 'call_1', name: 'clock', input: '{"zone":"UTC"}' }
const die = { id: 'call_2', name: 'die', input: '{}' }
const calling: VendorOptions = { thinking: 'Hm.', signature: 'c2ln', text: 'Well.', calls: [clock, die] }

/** Chat completions have no signatures. */
const isSigned = (name: PackageName): boolean => name !== '@ai-sdk/openai-compatible'

for (const name of packages) {
  describe(name, () => {
    const signatures = isSigned(name) ? [signature] : []

    test('a stream has them in pieces', async () => {
      const { pieces, stopReason } = await stream(name, calling)
      const reasoning = [thinking('Hm'), thinking('.'), ...signatures]
      const calls = [call('call_1', 'clock'), input('{"zone":'), input('"UTC"}'), call('call_2', 'die'), input('{}')]
      assert.deepEqual([pieces, stopReason], [[...reasoning, 'Well', '.', ...calls], 'complete'])
    })

    test('arguments that are not JSON are passed on as the model wrote them', async () => {
      const broken = { ...clock, input: '{"zone":' }
      const { pieces, stopReason } = await stream(name, { calls: [broken] })
      assert.deepEqual([pieces, stopReason], [[call('call_1', 'clock'), input('{"zone":')], 'complete'])
      // Anthropic's whole replies have arguments as JSON.
      if (name === '@ai-sdk/anthropic') return
      const { parts } = await run(name, { calls: [broken] })
      assert.deepEqual(parts, [{ kind: 'call', id: 'call_1', tool: 'clock', input: '{"zone":' }])
    })

    test('A14 tokens of the cache are counted once, and those of reasoning are part of the output', async () => {
      const usage = {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 5 },
      }
      // The package for chat completions reports tokens that were written to the cache only as the vendor sent them.
      const ofInput = { inputTokens: 30, cachedTokens: 60, cacheWriteTokens: 10 }
      const expected = { ...ofInput, outputTokens: 20, reasoningTokens: 5, source: 'upstream' }
      assert.deepEqual((await run(name, { ...calling, usage })).usage, expected)
      for (const usageOn of ['last', 'several'] as const) {
        assert.deepEqual((await stream(name, { ...calling, usage, usageOn })).usage, expected, usageOn)
      }
    })

    test('A45 counts that are no counts are as if they were not reported', async () => {
      // Sent as null.
      const usage = { prompt_tokens: NaN, completion_tokens: NaN }
      for (const reply of [await run(name, { ...calling, usage }), await stream(name, { ...calling, usage })]) {
        assert.deepEqual([reply.usage.inputTokens, reply.usage.source], [5, 'estimated'])
        assert.ok(reply.usage.outputTokens > 1)
      }
    })

    test('A14 usage that is missing is estimated from reasoning and calls, too', async () => {
      // Anthropic's package requires usage.
      if (name === '@ai-sdk/anthropic') return
      const { usage } = await stream(name, { ...calling, usageOn: 'none', usage: null })
      // Two pieces of reasoning, two of the text, two names, and three pieces of input.
      assert.deepEqual(usage, { inputTokens: 5, outputTokens: 9, source: 'estimated' })
      // 3 bytes of reasoning, 5 of text, 5 + 14 and 3 + 2 of the calls.
      const whole = await run(name, { ...calling, usageOn: 'none', usage: null })
      assert.deepEqual(whole.usage, { inputTokens: 5, outputTokens: 8, source: 'estimated' })
    })
  })
}

/** What the stream of a call brings with each event that the stand-in sends. */
const events: Readonly<Record<PackageName, readonly (readonly Delta[])[]>> = {
  '@ai-sdk/anthropic': [
    [thinking('Hm')],
    [thinking('.')],
    [signature],
    [call('call_1', 'clock')],
    [input('{')],
    [input('}')],
  ],
  '@ai-sdk/openai': [[thinking('Hm')], [thinking('.')], [signature, call('call_1', 'clock'), input('{')], [input('}')]],
  '@ai-sdk/openai-compatible': [
    [thinking('Hm')],
    [thinking('.')],
    [call('call_1', 'clock')],
    [input('{')],
    [input('}')],
  ],
}

/** A stream that is within the arguments of a call after `within` events. */
function openCall(name: PackageName, options: VendorOptions) {
  const within = events[name].length - 1
  const gate = createGate()
  vendor.set({
    thinking: 'Hm.',
    signature: 'c2ln',
    calls: [{ ...clock, pieces: ['{', '}'] }],
    after: within,
    gate: gate.pass,
    ...options,
  })
  const expected = events[name].slice(0, within).flat()
  /** Opens the gate for the next event when all of the one before has arrived. */
  function read(pieces: number): void {
    let sent = 1
    for (let due = 0; sent <= within; sent += 1) {
      due += events[name][sent - 1]?.length ?? 0
      if (pieces < due) break
    }
    gate.open(sent)
  }
  read(0)
  return { expected, read }
}

const countOf = (parts: readonly StreamPart[]): number =>
  parts.reduce((sum, part) => sum + (part.kind === 'deltas' ? part.deltas.length : 0), 0)

/** Two pieces of reasoning, the name of the tool and the beginning of its input. A signature costs nothing. */
const received = { inputTokens: 5, outputTokens: 4, source: 'estimated' } as const

for (const name of packages) {
  for (const fault of ['reset', 'half_stream', 'early_end', 'malformed_event', 'error_event'] as const) {
    test(`A14 ${name}: ${fault} within a call ends with what arrived of it, and is not retried`, async () => {
      const { calls } = vendor
      const { expected, read } = openCall(name, { fault })
      const all: StreamPart[] = []
      for await (const part of open(name).stream(prompt, limits, new AbortController().signal)) {
        all.push(part)
        read(countOf(all))
      }
      const { pieces, stopReason, usage } = readStream(all)
      assert.deepEqual([pieces, stopReason], [expected, 'error'])
      assert.deepEqual(usage, received)
      assert.equal(vendor.calls, calls + 1)
    })
  }

  test(`A15 ${name}: a caller who disconnects within a call aborts the upstream and pays for what arrived`, async () => {
    const { calls, abandoned } = vendor
    const { expected, read } = openCall(name, {})
    const leaving = new AbortController()
    const all: StreamPart[] = []
    for await (const part of open(name).stream(prompt, limits, leaving.signal)) {
      all.push(part)
      if (countOf(all) < expected.length) read(countOf(all))
      else leaving.abort()
    }
    const { pieces, stopReason, usage } = readStream(all)
    assert.deepEqual([pieces, stopReason], [expected, 'cancelled'])
    assert.deepEqual(usage, received)
    await until(() => vendor.abandoned === abandoned + 1)
    assert.equal(vendor.calls, calls + 1)
  })
}
