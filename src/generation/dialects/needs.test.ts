import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message, Part, Prompt } from '../../models/conversation.ts'
import { needsOf } from './needs.ts'

const fields = { messages: 'input', format: 'text.format', reasoning: 'reasoning.effort' }
const user: Message = { role: 'user', text: 'Hello' }
const saying = (...parts: Part[]): Message => ({ role: 'assistant', parts })
const file = (mediaType: string): Part => ({ kind: 'file', mediaType, data: '' })

test('a prompt needs a model that can do what its fields and its messages have', () => {
  const cases: readonly (readonly [Partial<Prompt>, readonly string[] | undefined])[] = [
    [{}, undefined],
    [{ cacheKey: 'x', reasoning: { effort: 'none' } }, undefined],
    [
      { messages: [saying({ kind: 'thinking', text: 'Hm.' }, { kind: 'text', text: 'Hi.', cache: {} }), user] },
      undefined,
    ],
    [{ tools: [{ name: 'f', parameters: {} }] }, ['tools tools']],
    [{ messages: [saying({ kind: 'call', id: 'a', tool: 'f', input: '{}' })] }, ['tools input']],
    [
      {
        messages: [
          saying({ kind: 'result', callId: 'a', content: [{ kind: 'file', mediaType: 'image/png', data: '' }] }),
        ],
        tools: [{ name: 'f', parameters: {} }],
      },
      ['tools tools', 'tools input', 'images input'],
    ],
    [
      { messages: [saying(file('image/png'), file('application/pdf'), file('image/gif'))] },
      ['images input', 'documents input'],
    ],
    [{ format: { kind: 'json' } }, ['json text.format']],
    [{ reasoning: { effort: 'minimal' } }, ['reasoning reasoning.effort']],
    [{ reasoning: { budgetTokens: 1024 } }, ['reasoning reasoning.effort']],
  ]
  for (const [prompt, expected] of cases) {
    const needs = needsOf({ messages: [user], ...prompt }, fields)
    assert.deepEqual(
      needs?.map(({ capability, field }) => `${capability} ${field}`),
      expected,
    )
  }
})
