import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { settle, stopClock } from '../../../../tests/support/clock.ts'
import { createGate } from '../../../../tests/support/gate.ts'
import { openPackage, packages, providerOf, type PackageName } from '../../../../tests/support/provider-packages.ts'
import { until } from '../../../../tests/support/until.ts'
import type { VendorOptions } from '../../../../tests/support/vendor-options.ts'
import {
  createModels,
  failure,
  parts,
  pieces,
  prompt,
  stepwise,
  type Manner,
} from '../../../../tests/support/vendor-run.ts'
import { startVendor } from '../../../../tests/support/vendor.ts'
import type { StreamPart } from '../../model.ts'
import { OperatorError } from '../../../platform/problems.ts'
import { loadProviders, type Provider } from './provider.ts'
import type { AiSdkModelOptions } from './ai-sdk.ts'

const vendor = await startVendor()
const models = createModels()
const key = 'sk-secret-of-the-vendor'

const open = (name: PackageName, options: Partial<AiSdkModelOptions> = {}) =>
  openPackage(models, name, { url: vendor.url, key, ...options })

afterEach(async () => {
  vendor.set({})
  models.lines.length = 0
  await models.close()
})
after(() => vendor.close())

/** A provider, and a promise that resolves when the model has received the headers of its first response. */
function announcingProvider(name: PackageName): { provider: Provider; answered: Promise<void> } {
  const original = providerOf(name)
  const answered = Promise.withResolvers<void>()
  const provider: Provider = (settings, model) => {
    const fetch: unknown = Reflect.get(settings, 'fetch')
    assert.ok(typeof fetch === 'function')
    const announcing = async (...given: unknown[]): Promise<unknown> => {
      const response: unknown = await Reflect.apply(fetch, undefined, given)
      answered.resolve()
      return response
    }
    return original({ ...settings, fetch: announcing }, model)
  }
  return { provider, answered: answered.promise }
}

const bodyOf = (part: string): unknown => {
  const { body } = vendor.last
  return typeof body === 'object' && body !== null ? Reflect.get(body, part) : undefined
}

const run = async (name: PackageName, options: VendorOptions, manner: Manner = {}) => {
  vendor.set(options)
  return parts(await pieces(open(name), manner))
}

for (const name of packages) {
  describe(name, () => {
    const stream = { stream: true }
    const reported = { inputTokens: 12, outputTokens: 3, source: 'upstream' }

    test('a reply is one text with the reported usage', async () => {
      assert.deepEqual(await run(name, {}), { texts: ['Hello there.'], stopReason: 'complete', usage: reported })
    })

    test('a stream comes token by token', async () => {
      assert.deepEqual(await run(name, {}, stream), {
        texts: ['Hello', ' there', '.'],
        stopReason: 'complete',
        usage: reported,
      })
    })

    test('the request has all settings', async () => {
      // Anthropic's models take one of the two.
      const topP = name === '@ai-sdk/anthropic' ? undefined : 0.9
      await run(name, {}, { maxOutputTokens: 77, temperature: 0.5, topP, stop: ['###'] })
      const sent = JSON.stringify(vendor.last.body)
      for (const text of ['Be brief.', 'Grüß Gott', '77', '"m"']) assert.ok(sent.includes(text), sent)
      assert.match(inspect(vendor.last.headers), new RegExp(key))
    })

    for (const streams of [false, true]) {
      test(`A14 usage on all and on several events is counted once; stream: ${streams}`, async () => {
        for (const usageOn of ['all', 'several', 'last'] as const) {
          const { usage } = await run(name, { tokens: 9, usageOn }, { stream: streams })
          assert.deepEqual(usage, { inputTokens: 12, outputTokens: 9, source: 'upstream' }, usageOn)
        }
        const { usage } = await run(name, { usage: { prompt_tokens: 0, completion_tokens: 0 } }, { stream: streams })
        assert.deepEqual(usage, { inputTokens: 0, outputTokens: 0, source: 'upstream' })
      })

      test(`length is max_output_tokens; stream: ${streams}`, async () => {
        assert.equal((await run(name, { finishReason: 'length' }, { stream: streams })).stopReason, 'max_output_tokens')
      })

      test(`A43 an unknown finish reason is complete; stream: ${streams}`, async () => {
        const { texts, stopReason } = await run(name, { finishReason: 'odd' }, { stream: streams })
        assert.deepEqual([texts.join(''), stopReason], ['Hello there.', 'complete'])
      })

      for (const [fault, code, asked] of [
        ['server_error', 'upstream_failed', 3],
        ['rate_limit', 'overloaded', 3],
        ['reset', 'upstream_failed', 3],
        ['wrong_key', 'upstream_failed', 1],
        ['context_length', 'context_length_exceeded', 1],
        ['redirect', 'upstream_failed', undefined],
        ['cut_json', 'upstream_failed', undefined],
        ['html', 'upstream_failed', undefined],
        ['invalid_utf8', undefined, undefined],
      ] as const) {
        // The pool makes the attempts for every package, so one package is enough for slow cases.
        if (asked === 3 && name !== '@ai-sdk/anthropic') continue
        test(`A13 ${fault} is ${code ?? 'not dangerous'}; stream: ${streams}`, async () => {
          vendor.set({ fault, text: 'private words' })
          const before = vendor.calls
          // The packages replace invalid UTF-8.
          if (code === undefined) return void (await pieces(open(name), { stream: streams }).catch(() => undefined))
          const problem = await failure(open(name), { stream: streams })
          assert.equal(problem.code, code)
          if (asked !== undefined) assert.equal(vendor.calls - before, asked)
          assert.doesNotMatch(inspect(problem) + models.lines.join(''), /sk-secret|private words|<html|Grüß/)
        })
      }

      test(`A13 twice refused and then served; stream: ${streams}`, async () => {
        const { stopReason } = await run(name, { fault: 'server_error', times: 2 }, { stream: streams })
        assert.equal(stopReason, 'complete')
      })
    }

    for (const fault of ['reset', 'half_stream', 'early_end', 'malformed_event', 'no_terminal'] as const) {
      // This package treats a finish reason as the end.
      if (fault === 'no_terminal' && name === '@ai-sdk/openai-compatible') continue
      test(`A14 a stream with ${fault} after 2 tokens is an error, not complete`, async () => {
        const before = vendor.calls
        const gate = createGate()
        vendor.set({ tokens: 5, fault, after: 2, gate: gate.pass })
        const told = open(name).stream(prompt, { maxOutputTokens: 100 }, new AbortController().signal)
        const { texts, stopReason, usage } = parts(await Array.fromAsync(stepwise(told, gate)))
        assert.deepEqual([texts, stopReason], [['word', ' word'], 'error'])
        assert.deepEqual(usage, { inputTokens: 5, outputTokens: 2, source: 'estimated' })
        assert.equal(vendor.calls, before + 1)
      })
    }

    test('A15 a caller who disconnects aborts the upstream call and pays for the received tokens', async () => {
      const gate = createGate()
      vendor.set({ tokens: 1000, gate: gate.pass })
      const { abandoned } = vendor
      const leaving = new AbortController()
      const all: StreamPart[] = []
      const told = open(name).stream(prompt, { maxOutputTokens: 4096 }, leaving.signal)
      for await (const piece of stepwise(told, gate)) {
        all.push(piece)
        if (all.length === 5) leaving.abort()
      }
      const { texts, stopReason, usage } = parts(all)
      assert.deepEqual([texts.length, stopReason, usage.outputTokens], [5, 'cancelled', 5])
      await until(() => vendor.abandoned === abandoned + 1)
    })

    test('A15 the same for a reply without a stream', async () => {
      vendor.set({ fault: 'hang' })
      const { calls, abandoned } = vendor
      const leaving = new AbortController()
      const running = pieces(open(name), {}, leaving.signal)
      await until(() => vendor.calls > calls)
      leaving.abort()
      const { stopReason, usage } = parts(await running)
      assert.deepEqual([stopReason, usage.inputTokens, usage.outputTokens], ['cancelled', 5, 0])
      await until(() => vendor.abandoned === abandoned + 1)
    })

    test('a late first token and a late end are upstream_timeout', async () => {
      vendor.set({ fault: 'stall', after: 0 })
      const timeout = { connect: 500, first_token: 100, total: 300 }
      assert.equal((await failure(open(name, { timeout }), stream)).code, 'upstream_timeout')
      vendor.set({ fault: 'hang' })
      assert.equal((await failure(open(name, { timeout }))).code, 'upstream_timeout')
    })

    test('a hung upstream ends a whole reply after the total and is not retried', async () => {
      vendor.set({ fault: 'hang' })
      const { calls } = vendor
      const timeout = { connect: 20_000, first_token: 50, total: 100 }
      assert.equal((await failure(open(name, { timeout }))).code, 'upstream_timeout')
      // On a busy machine the timeout may pass before the request arrives.
      assert.ok(vendor.calls <= calls + 1, 'it was sent again')
    })

    test('a whole reply may take longer than first_token once its response has begun', async (t) => {
      const clock = stopClock(t)
      const timeout = { connect: 20_000, first_token: 3000, total: 3_600_000 }
      const body = Promise.withResolvers<void>()
      vendor.set({ bodyGate: body.promise })
      const { provider, answered } = announcingProvider(name)
      const running = pieces(open(name, { timeout, provider }))
      await answered
      clock.advance(3500)
      await settle()
      body.resolve()
      assert.equal(parts(await running).stopReason, 'complete')
    })

    test('more requests than connections are overloaded; then there is room again', async () => {
      const gate = createGate()
      vendor.set({ gate: gate.pass })
      const model = open(name, { connections: 1 })
      const first = pieces(model)
      assert.equal((await failure(model)).code, 'overloaded')
      gate.open()
      await first
      for (const streams of [true, true, false]) await pieces(model, { stream: streams })
    })
  })
}

test('a missing usage is estimated', async () => {
  for (const name of ['@ai-sdk/openai', '@ai-sdk/openai-compatible'] as const) {
    for (const stream of [false, true]) {
      vendor.set({ usage: null })
      const { usage } = parts(await pieces(open(name), { stream }))
      assert.deepEqual(usage, { inputTokens: 5, outputTokens: 3, source: 'estimated' }, `${name} ${stream}`)
    }
  }
})

test('the kind of Anthropic stop is passed on', async () => {
  for (const stream of [false, true]) {
    vendor.set({ finishReason: 'stop_sequence' })
    const { stopReason } = parts(await pieces(open('@ai-sdk/anthropic'), { stream, stop: ['###'] }))
    assert.equal(stopReason, 'stop_sequence')
    assert.deepEqual(bodyOf('stop_sequences'), ['###'])
  }
})

const refusal = async (...names: string[]): Promise<string> => {
  const error: unknown = await loadProviders(names).catch((reason: unknown) => reason)
  assert(error instanceof OperatorError, String(error))
  return error.message
}

describe('a provider package', () => {
  test('that is not installed is reported in one line with the command that installs all missing packages', async () => {
    assert.equal(
      await refusal('@ai-sdk/openai', '@ai-sdk/nowhere', '@ai-sdk/openai'),
      'models: the package @ai-sdk/nowhere is not installed: run npm install --no-save @ai-sdk/openai @ai-sdk/nowhere',
    )
  })

  test('that is not an AI SDK provider is refused', async () => {
    assert.equal(await refusal('pino'), 'models: the package pino is not an AI SDK provider: name a package that is')
  })
})
