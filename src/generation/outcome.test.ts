import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StreamEnd, StreamPart, StopReason } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'
import { createTruncation } from './truncation.ts'
import { checkOutcome, readStream, type Outcome } from './outcome.ts'

const usage = { inputTokens: 3, outputTokens: 2, source: 'model' } as const
const open = new AbortController().signal
const part = { kind: 'texts', texts: ['Hel'] } as const
const end = (stopReason: StopReason): StreamEnd => ({ kind: 'end', stopReason, usage })

async function* run(...pieces: readonly StreamPart[]): AsyncGenerator<StreamPart> {
  yield* pieces
}

/** The texts of a run and its outcome. */
async function collect(pieces: AsyncIterable<StreamPart>, signal = open): Promise<Outcome & { texts: string[] }> {
  const texts: string[] = []
  const stop = new AbortController()
  if (signal.aborted) stop.abort()
  const reading = readStream(pieces, createTruncation({ maxOutputTokens: 10 }), stop)
  let step = await reading.next()
  for (; !step.done; step = await reading.next()) texts.push(...step.value)
  return { ...step.value, texts }
}

const fails = (code: string) => (error: unknown) => error instanceof Problem && error.code === code

describe('a run', () => {
  it('is read as texts and as a whole', async () => {
    const texts = [['Hel'], ['l', 'o']].map((each) => ({ kind: 'texts', texts: each }) as const)
    const outcome = await collect(run(...texts, end('stop_sequence')))
    assert.deepEqual(outcome, { text: 'Hello', stopReason: 'stop_sequence', usage, texts: ['Hel', 'l', 'o'] })
  })

  it('without an end, or with an error at its end, fails', async () => {
    await assert.rejects(collect(run(part)), fails('upstream_failed'))
    await assert.rejects(collect(run(end('error'))), fails('upstream_failed'))
    assert.throws(() => checkOutcome({ text: 'Hel', stopReason: 'error', usage }, open), fails('upstream_failed'))
  })

  it('that breaks off after its first text has an outcome, with a problem for the caller', async () => {
    const late = new Problem('upstream_timeout', 'Nothing was charged.', { retryAfter: 7 })
    for (const [problem, code] of [
      [undefined, 'upstream_failed'],
      [late, 'upstream_timeout'],
    ] as const) {
      const outcome = await collect(run(part, { ...end('error'), ...(problem && { problem }) }))
      assert.deepEqual([outcome.text, outcome.stopReason, outcome.usage], ['Hel', 'error', usage])
      assert.equal(outcome.problem?.code, code)
      assert.match(outcome.problem?.message ?? '', /The text received so far was charged/)
      assert.equal(outcome.problem?.details.retryAfter, undefined)
    }
  })

  it('that was cancelled is an outcome only if it was stopped', async () => {
    const gone = AbortSignal.abort()
    assert.equal((await collect(run(end('cancelled')), gone)).stopReason, 'cancelled')
    await assert.rejects(collect(run(end('cancelled'))), fails('unavailable'))
    const whole = { text: '', stopReason: 'cancelled', usage } as const
    assert.equal(checkOutcome(whole, gone), whole)
    assert.throws(() => checkOutcome(whole, open), fails('unavailable'))
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
