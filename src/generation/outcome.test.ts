import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Piece, StopReason } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'
import { read, type Outcome } from './outcome.ts'

const usage = { inputTokens: 3, outputTokens: 2, source: 'model' } as const
const open = new AbortController().signal
const end = (stopReason: StopReason): Piece => ({ kind: 'end', stopReason, usage })

async function* run(...pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces
}

/** The texts of a run as they come, and what it returns. */
async function collect(pieces: AsyncIterable<Piece>, signal: AbortSignal): Promise<Outcome & { texts: string[] }> {
  const texts: string[] = []
  const reading = read(pieces, signal)
  let step = await reading.next()
  for (; !step.done; step = await reading.next()) texts.push(step.value)
  return { ...step.value, texts }
}

const fails = (code: string) => (error: unknown) => error instanceof Problem && error.code === code

describe('a run', () => {
  it('is read text by text, without empty ones, and whole', async () => {
    const texts = ['Hel', '', 'lo'].map((text) => ({ kind: 'text', text }) as const)
    const outcome = await collect(run(...texts, end('stop_sequence')), open)
    assert.deepEqual(outcome, { text: 'Hello', stopReason: 'stop_sequence', usage, texts: ['Hel', 'lo'] })
  })

  it('that ends without saying how, or in an error, is a failure', async () => {
    await assert.rejects(collect(run({ kind: 'text', text: 'Hel' }), open), fails('upstream_failed'))
    await assert.rejects(collect(run(end('error')), open), fails('upstream_failed'))
  })

  it('that was cancelled is an outcome only when its caller has gone', async () => {
    assert.equal((await collect(run(end('cancelled')), AbortSignal.abort())).stopReason, 'cancelled')
    await assert.rejects(collect(run(end('cancelled')), open), fails('unavailable'))
  })

  it('is told when nobody reads on', async () => {
    let ended = false
    async function* watched(): AsyncGenerator<Piece> {
      try {
        yield end('complete')
        yield { kind: 'text', text: 'more' }
      } finally {
        ended = true
      }
    }
    await collect(watched(), open)
    assert.ok(ended)
  })
})
