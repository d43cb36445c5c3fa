import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createReplyCallIds } from './call-ids.ts'
import type { Delta, Message, ReplyPart } from './conversation.ts'

const call = (id: string) => ({ kind: 'call', id, tool: 'find', input: '{}' }) as const
const begin = (id: string): Delta => ({ kind: 'call', id, tool: 'find' })
const input: Delta = { kind: 'input', json: '{}' }
const text: ReplyPart = { kind: 'text', text: 'a' }
const conversation: readonly Message[] = [
  { role: 'user', text: 'a' },
  { role: 'assistant', parts: [text, call('a'), call('a_2')] },
  { role: 'user', parts: [{ kind: 'result', callId: 'a', content: [] }] },
]

describe('the calls of a reply', () => {
  it('keep ids that no other call has', () => {
    const ids = createReplyCallIds(conversation)
    const parts = [text, call('b'), call('c'), call('result')]
    assert.deepEqual(ids.inParts(parts), parts)
  })

  it('have no id of an earlier call, of the conversation or of the reply', () => {
    const parts = createReplyCallIds(conversation).inParts([call('a'), text, call('b'), call('b'), call('a')])
    assert.deepEqual(parts, [call('a_3'), text, call('b'), call('b_2'), call('a_4')])
  })

  it('have the same ids in a stream', () => {
    const ids = createReplyCallIds(conversation)
    assert.deepEqual(ids.inDeltas([begin('a'), input]), [begin('a_3'), input])
    assert.deepEqual(ids.inDeltas([input]), [input])
    assert.deepEqual(ids.inDeltas([begin('b'), input, begin('b')]), [begin('b'), input, begin('b_2')])
  })
})
