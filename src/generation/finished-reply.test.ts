import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createReplyCallIds } from '../models/call-ids.ts'
import type { StreamEnd, StreamPart, StopReason } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'
import { createTruncation } from './truncation.ts'
import { checkFinished, readStream, type FinishedReply } from './finished-reply.ts'

const usage = { inputTokens: 3, outputTokens: 2, source: 'model' } as const
const open = new AbortController().signal
const part = { kind: 'texts', texts: ['Hel'] } as const
const end = (stopReason: StopReason): StreamEnd => ({ kind: 'end', stopReason, usage })

async function* run(...pieces: readonly StreamPart[]): AsyncGenerator<StreamPart> {
  yield* pieces
}

/** The texts of a run and its finished. */
async function collect(
  pieces: AsyncIterable<StreamPart>,
  signal = open,
  maxOutputTokens = 10,
): Promise<FinishedReply & { texts: string[] }> {
  const texts: string[] = []
  const stop = new AbortController()
  if (signal.aborted) stop.abort()
  const reading = readStream(pieces, {
    truncation: createTruncation({ maxOutputTokens }),
    callIds: createReplyCallIds([]),
    stop,
  })
  let step = await reading.next()
  for (; !step.done; step = await reading.next()) if (step.value.kind === 'texts') texts.push(...step.value.texts)
  return { ...step.value, texts }
}

/** More levels than a call can have. */
const deep = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`

const fails = (code: string) => (error: unknown) => error instanceof Problem && error.code === code

describe('a run', () => {
  it('is read as texts and as a whole', async () => {
    const texts = [['Hel'], ['l', 'o']].map((each) => ({ kind: 'texts', texts: each }) as const)
    const finished = await collect(run(...texts, end('stop_sequence')))
    assert.deepEqual(finished, { text: 'Hello', stopReason: 'stop_sequence', usage, texts: ['Hel', 'l', 'o'] })
  })

  it('keeps calls and reasoning in their order', async () => {
    const think = [{ kind: 'reasoning', text: 'Hm' } as const, { kind: 'signature', signature: 's' } as const]
    const call = [{ kind: 'call', id: 'c', tool: 'find' } as const]
    const input = [{ kind: 'input', json: '{"a"' } as const, { kind: 'input', json: ':1}' } as const]
    const second = [{ kind: 'call', id: 'd', tool: 'list' } as const]
    const deltas = [call, input, second].map((each) => ({ kind: 'deltas', deltas: each }) as const)
    const finished = await collect(run({ kind: 'deltas', deltas: think }, part, ...deltas, end('complete')))
    assert.deepEqual(finished, {
      text: 'Hel',
      parts: [
        { kind: 'reasoning', text: 'Hm', signature: 's' },
        { kind: 'text', text: 'Hel' },
        { kind: 'call', id: 'c', tool: 'find', input: '{"a":1}' },
        { kind: 'call', id: 'd', tool: 'list', input: '{}' },
      ],
      stopReason: 'complete',
      usage,
      texts: ['Hel'],
    })
  })

  it('that calls a tool with anything but an object fails, or breaks off if the caller has received the call', async () => {
    for (const json of ['{"a":', '[1]', 'null', '1', deep]) {
      const deltas = [{ kind: 'call', id: 'c', tool: 'find' } as const, { kind: 'input', json } as const]
      const finished = await collect(run({ kind: 'deltas', deltas }, end('complete')), open, 100)
      assert.deepEqual(
        [finished.stopReason, finished.problem?.code, finished.usage],
        ['error', 'upstream_failed', usage],
      )
      const parts = [{ kind: 'call', id: 'c', tool: 'find', input: json } as const]
      const whole = { text: '', parts, usage }
      assert.throws(() => checkFinished({ ...whole, stopReason: 'complete' }, open), fails('upstream_failed'))
      const cut = checkFinished({ ...whole, stopReason: 'max_output_tokens' }, open)
      assert.deepEqual(cut.parts, [], 'a call that was cut off')
    }
  })

  it('that is cut off after the name of a tool does not have the call', async () => {
    const calls = ['c', 'd'].map((id) => ({ kind: 'call', id, tool: 'find' }) as const)
    for (const stopReason of ['max_output_tokens', 'content_filter', 'stop_sequence'] as const) {
      const deltas = { kind: 'deltas', deltas: calls } as const
      const steps = await Array.fromAsync(
        readStream(run(part, deltas, end(stopReason)), {
          truncation: createTruncation({ maxOutputTokens: 10 }),
          callIds: createReplyCallIds([]),
          stop: new AbortController(),
        }),
      )
      assert.deepEqual(steps, [part, { kind: 'deltas', deltas: calls.slice(0, 1) }])
      const parts = calls.map((call) => ({ ...call, input: '' }))
      const whole = checkFinished({ text: '', parts, usage, stopReason }, open)
      assert.deepEqual(whole.parts, [{ ...calls[0], input: '{}' }])
    }
  })

  it('that fails after the name of a tool, before anything else, has brought its caller nothing', async () => {
    const deltas = [{ kind: 'call', id: 'c', tool: 'find' } as const]
    await assert.rejects(collect(run({ kind: 'deltas', deltas }, end('error'))), fails('upstream_failed'))
  })

  it('with a call without arguments before a text has both in their order', async () => {
    const deltas = [{ kind: 'call', id: 'c', tool: 'find' } as const]
    const { parts } = await collect(run({ kind: 'deltas', deltas }, part, end('max_output_tokens')))
    assert.deepEqual(parts, [
      { kind: 'call', id: 'c', tool: 'find', input: '{}' },
      { kind: 'text', text: 'Hel' },
    ])
  })

  it('is cut off at its most tokens within a call, too', async () => {
    const input = Array.from({ length: 20 }, () => ({ kind: 'input', json: ' ' }) as const)
    const deltas = [{ kind: 'call', id: 'c', tool: 'find' } as const, ...input]
    const finished = await collect(run({ kind: 'deltas', deltas }, end('complete')))
    assert.deepEqual([finished.stopReason, finished.usage.outputTokens, finished.parts], ['max_output_tokens', 10, []])
  })

  it('stops the model at its bounds, and not before', async () => {
    const stop = new AbortController()
    const states: boolean[] = []
    async function* model(): AsyncGenerator<StreamPart> {
      for (const text of ['Hel', 'lo EN', 'D and', ' on']) {
        states.push(stop.signal.aborted)
        yield { kind: 'texts', texts: [text] }
      }
      states.push(stop.signal.aborted)
      yield end('cancelled')
    }
    const truncation = createTruncation({ maxOutputTokens: 10, stop: ['END'] })
    await Array.fromAsync(readStream(model(), { truncation, callIds: createReplyCallIds([]), stop }))
    assert.deepEqual(states, [false, false, false, true, true])
  })

  it('without an end, or with an error at its end, fails', async () => {
    await assert.rejects(collect(run(part)), fails('upstream_failed'))
    await assert.rejects(collect(run(end('error'))), fails('upstream_failed'))
    assert.throws(() => checkFinished({ text: 'Hel', stopReason: 'error', usage }, open), fails('upstream_failed'))
  })

  it('that breaks off after its first text has an finished, with a problem for the caller', async () => {
    const late = new Problem('upstream_timeout', 'Nothing was charged.', { retryAfter: 7 })
    for (const [problem, code] of [
      [undefined, 'upstream_failed'],
      [late, 'upstream_timeout'],
    ] as const) {
      const finished = await collect(run(part, { ...end('error'), ...(problem && { problem }) }))
      assert.deepEqual([finished.text, finished.stopReason, finished.usage], ['Hel', 'error', usage])
      assert.equal(finished.problem?.code, code)
      assert.match(finished.problem?.message ?? '', /The text received so far was charged/)
      assert.equal(finished.problem?.details.retryAfter, undefined)
    }
  })

  it('that was cancelled is an finished only if it was stopped', async () => {
    const gone = AbortSignal.abort()
    assert.equal((await collect(run(end('cancelled')), gone)).stopReason, 'cancelled')
    await assert.rejects(collect(run(end('cancelled'))), fails('unavailable'))
    const whole = { text: '', stopReason: 'cancelled', usage } as const
    assert.equal(checkFinished(whole, gone), whole)
    assert.throws(() => checkFinished(whole, open), fails('unavailable'))
  })

  it('is closed after its end', async () => {
    let ended = false
    async function* watched(): AsyncGenerator<StreamPart> {
      try {
        yield end('complete')
        yield { kind: 'texts', texts: ['more'] }
      } finally {
        ended = true
      }
    }
    await collect(watched())
    assert.ok(ended)
  })
})
