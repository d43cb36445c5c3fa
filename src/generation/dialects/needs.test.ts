import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message, Part, Prompt } from '../../models/conversation.ts'
import { needsOf } from './needs.ts'

const fields = {
  messages: 'input',
  format: 'text.format',
  reasoning: 'reasoning.effort',
  verbosity: 'text.verbosity',
}
const tool = { name: 'f', parameters: {}, field: 'tools[0].parameters' }
const user: Message = { role: 'user', text: 'Hello' }
const saying = (...parts: Part[]): Message => ({ role: 'assistant', parts })
const file = (mediaType: string, field = 'input[0].content[0]') =>
  ({ kind: 'file', mediaType, data: '', extent: { pages: 1 }, field }) as const

test('a prompt needs a model that can do what its fields and its messages have', () => {
  const cases: readonly (readonly [Partial<Prompt>, readonly string[] | undefined])[] = [
    [{}, undefined],
    [{ cacheKey: 'x', reasoning: { effort: 'none' } }, undefined],
    [{ reasoning: { summary: 'auto' } }, undefined],
    [
      { messages: [saying({ kind: 'reasoning', text: 'Hm.' }, { kind: 'text', text: 'Hi.', cache: {} }), user] },
      undefined,
    ],
    [{ tools: [tool] }, ['tools tools']],
    [{ tools: [tool], toolChoice: 'auto' }, ['tools tools']],
    [{ tools: [tool], toolChoice: 'none' }, ['forced_tools tools']],
    [{ tools: [tool], toolChoice: 'required' }, ['forced_tools tools']],
    [{ tools: [tool], toolChoice: { tool: 'f' } }, ['forced_tools tools']],
    [{ messages: [saying({ kind: 'call', id: 'a', tool: 'f', input: '{}' })] }, ['forced_tools input']],
    [
      {
        messages: [saying({ kind: 'result', callId: 'a', content: [file('image/png')] })],
        tools: [tool],
      },
      ['tools tools', 'forced_tools input', 'images input[0].content[0]'],
    ],
    [
      { messages: [saying(file('image/png', 'a'), file('application/pdf', 'b'), file('image/gif', 'c'))] },
      ['images a', 'documents b'],
    ],
    [{ format: { kind: 'json' } }, ['json text.format']],
    [{ reasoning: { effort: 'minimal' } }, ['reasoning reasoning.effort']],
    [{ reasoning: { budgetTokens: 1024 } }, ['reasoning reasoning.effort']],
    [{ verbosity: 'low' }, ['verbosity text.verbosity']],
  ]
  for (const [prompt, expected] of cases) {
    const needs = needsOf({ messages: [user], ...prompt }, fields)
    assert.deepEqual(
      needs?.map(({ capability, field }) => `${capability} ${field}`),
      expected,
    )
  }
})
