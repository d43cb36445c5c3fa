import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Prompt } from './conversation.ts'
import { bytesOf, countedMessages } from './counted.ts'
import { valuesOf } from '../../tests/support/json.ts'

const user = { role: 'user', text: 'Hello' } as const
const schema = { type: 'object', properties: { city: { type: 'string' } } }
const withFormat = (field: string): Prompt => ({
  messages: [user],
  format: { kind: 'schema', name: 'answer', schema, strict: true, field },
})

describe('the text of a prompt that is counted', () => {
  it('is that of its messages if there is nothing else', () => {
    const messages = [user]
    assert.equal(countedMessages({ messages, format: { kind: 'json' } }), messages)
  })

  it('has the schema of a reply, and not where the request had it', () => {
    const [first, described, ...more] = countedMessages(withFormat('text.format.schema'))
    assert.deepEqual([first, described?.role, more], [user, 'system', []])
    assert.deepEqual(JSON.parse(described?.text ?? ''), [{ kind: 'schema', name: 'answer', schema, strict: true }])
    assert.equal(bytesOf(withFormat('text.format.schema')), bytesOf(withFormat('output_format.schema')))
  })

  it('has the fields of a vendor that its chat template may show, and no others', () => {
    const messages = [user]
    const sampling = { top_k: 40, min_p: 0.1, provider: { order: ['a'] } }
    assert.equal(countedMessages({ messages, vendorFields: sampling }), messages)
    const shown = { chat_template_kwargs: { documents: ['x'] }, suffix: 'y' }
    const [, described] = countedMessages({ messages, vendorFields: { ...sampling, ...shown } })
    assert.deepEqual(JSON.parse(described?.text ?? ''), [shown])
  })

  it('has the names of files, which vendors show to the model', () => {
    const file = {
      kind: 'file',
      mediaType: 'application/pdf',
      data: 'JVBERi0=',
      extent: { pages: 1 },
      field: 'f',
    } as const
    const counted = countedMessages({
      messages: [
        { role: 'user', parts: [{ ...file, name: 'Contract' }, file, { kind: 'text', text: 'Summarize.' }] },
        { role: 'user', parts: [{ kind: 'result', callId: 'c', content: [{ ...file, name: 'Annex' }] }] },
      ],
    })
    assert.deepEqual(counted, [
      { role: 'user', text: 'Contract\nSummarize.' },
      { role: 'user', text: 'Annex' },
    ])
  })

  it('has tools, calls and results', () => {
    const counted = countedMessages({
      messages: [
        user,
        { role: 'assistant', parts: [{ kind: 'call', id: 'c', tool: 'weather', input: '{"city":"Bern"}' }] },
        { role: 'user', parts: [{ kind: 'result', callId: 'c', content: [{ kind: 'text', text: 'Rain' }] }] },
      ],
      tools: [{ name: 'weather', parameters: schema, field: 'tools[0].parameters' }],
    })
    assert.deepEqual(counted, [
      user,
      { role: 'assistant', text: 'weather {"city":"Bern"}' },
      { role: 'user', text: 'Rain' },
      { role: 'system', text: JSON.stringify([{ name: 'weather', parameters: schema }]) },
    ])
  })

  it('has reasoning, without its signatures', () => {
    const reasoning = { kind: 'reasoning', text: 'Warm?' } as const
    const prompt: Prompt = {
      messages: [
        user,
        {
          role: 'assistant',
          parts: [{ ...reasoning, signature: 'c2lnbg==' }, reasoning, { kind: 'text', text: 'Yes.' }],
        },
        { role: 'assistant', parts: [{ kind: 'reasoning', text: '', signature: 'YQ', redacted: true }] },
      ],
    }
    assert.deepEqual(valuesOf(countedMessages(prompt), 'text'), ['Hello', 'Warm?\nWarm?\nYes.', ''])
  })
})
