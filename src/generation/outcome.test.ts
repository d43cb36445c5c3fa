import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Piece, StopReason } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'
import { collect } from './outcome.ts'

const usage = { inputTokens: 3, outputTokens: 2, source: 'model' } as const
const open = new AbortController().signal
const end = (stopReason: StopReason): Piece => ({ kind: 'end', stopReason, usage })

async function* run(...pieces: readonly Piece[]): AsyncGenerator<Piece> {
  yield* pieces
}

const fails = (code: string) => (error: unknown) => error instanceof Problem && error.code === code

describe('a run', () => {
  it('is collected whole', async () => {
    const pieces = run({ kind: 'text', text: 'Hel' }, { kind: 'text', text: 'lo' }, end('stop_sequence'))
    assert.deepEqual(await collect(pieces, open), { text: 'Hello', stopReason: 'stop_sequence', usage })
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
