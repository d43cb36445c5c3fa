import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replayedReply } from './reply.ts'

test('A22 reasoning that an earlier version stored under its old name is replayed', () => {
  const body = {
    output_text: 'Five.',
    stop_reason: 'complete',
    usage: { input_tokens: 3, output_tokens: 2 },
    parts: [
      { kind: 'thinking', text: 'Hm.', signature: 'c2ln' },
      { kind: 'text', text: 'Five.' },
    ],
  }
  const level = { limit: 1, remaining: 1, resetSeconds: 0 }
  const replay = {
    kind: 'replay',
    originalRequestId: 'r1',
    headers: {},
    body: JSON.stringify(body),
    charged: undefined,
  } as const
  const { parts } = replayedReply({ ...replay, levels: { requests: level, tokens: level } }, 'tiny')
  assert.deepEqual(parts?.[0], { kind: 'reasoning', text: 'Hm.', signature: 'c2ln' })
})
