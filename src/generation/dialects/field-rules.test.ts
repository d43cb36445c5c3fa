import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { listAt, parseObject } from '../../../tests/support/json.ts'
import { ownFields } from '../../platform/config/own-fields.ts'
import { Problem } from '../../platform/problems.ts'
import { anthropicMessages } from './anthropic/anthropic-messages.ts'
import { messagesRequest } from './anthropic/schema.ts'
import type { Dialect } from './dialect.ts'
import { chatFields, messagesFields, responsesFields, type FieldRule, type FieldTable } from './field-rules.ts'
import { chatRequest } from './openai-chat/schema.ts'
import { openAiChat } from './openai-chat/openai-chat.ts'
import { responsesRequest } from './openai-responses/schema.ts'
import { openAiResponses } from './openai-responses/openai-responses.ts'

// The compiler checks that no field of the vendors' own packages lacks a row. Theirs sends `betas` as a header.
const complete = {
  chat: chatFields satisfies Record<keyof OpenAI.ChatCompletionCreateParamsNonStreaming, FieldRule>,
  responses: responsesFields satisfies Record<keyof OpenAI.Responses.ResponseCreateParamsNonStreaming, FieldRule>,
  messages: messagesFields satisfies Record<
    Exclude<keyof Anthropic.Beta.Messages.MessageCreateParamsNonStreaming, 'betas'>,
    FieldRule
  >,
}

const user = { role: 'user', content: 'Hello' }

/** A dialect, a request that it accepts, and where else than at the top such a request can have the fields of a path. */
interface Case {
  readonly dialect: Dialect
  readonly table: FieldTable
  readonly schema: { readonly properties: object }
  readonly base: object
  readonly within: Readonly<Record<string, (fields: object) => object>>
}

const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const calling = (fields: object) => ({
  messages: [user, { role: 'assistant', tool_calls: [fields] }, { role: 'tool', tool_call_id: 'c', content: '' }],
})

const cases: Readonly<Record<string, Case>> = {
  'chat completions': {
    dialect: openAiChat,
    table: complete.chat,
    schema: chatRequest,
    base: { model: 'm', messages: [user] },
    within: {
      'messages[].': (fields) => ({ messages: [user, { role: 'assistant', content: 'Hi', ...fields }, user] }),
      'messages[].content[].': (fields) => ({
        messages: [{ ...user, content: [{ type: 'text', text: 'Hi', ...fields }] }],
      }),
      'messages[].tool_calls[].': (fields) => calling({ ...call, ...fields }),
      'messages[].tool_calls[].function.': (fields) => calling({ ...call, function: { ...call.function, ...fields } }),
    },
  },
  responses: {
    dialect: openAiResponses,
    table: complete.responses,
    schema: responsesRequest,
    base: { model: 'm', input: [user] },
    within: {
      'input[].': (fields) => ({ input: [{ ...user, ...fields }] }),
      'input[].content[].': (fields) => ({
        input: [{ ...user, content: [{ type: 'input_text', text: 'Hi', ...fields }] }],
      }),
      'reasoning.': (reasoning) => ({ reasoning }),
      'text.': (text) => ({ text }),
      'tools[].': (fields) => ({ tools: [{ type: 'function', name: 'f', ...fields }] }),
    },
  },
  messages: {
    dialect: anthropicMessages,
    table: complete.messages,
    schema: messagesRequest,
    base: { model: 'm', max_tokens: 10, messages: [user] },
    within: {
      'messages[].content[].': (fields) => ({
        messages: [{ ...user, content: [{ type: 'text', text: 'Hi', ...fields }] }],
      }),
      'tools[].': (fields) => ({ tools: [{ name: 'f', input_schema: { type: 'object' }, ...fields }] }),
    },
  },
}

/** A value that no field takes. */
const surprise = { surprise: true }

/** The field that a dialect refuses when `field` has the value; undefined if it accepts it. */
function refusedField({ dialect, base, within }: Case, field: string, value: unknown): string | undefined {
  const [, path = '', last = ''] = /^(.*?)(\w+)$/.exec(field) ?? []
  const fields = { [last]: value }
  try {
    dialect.read({ ...base, ...(path === '' ? fields : within[path]?.(fields)) })
    return undefined
  } catch (error) {
    return error instanceof Problem ? String(error.details.field) : assert.fail(`${field}: ${String(error)}`)
  }
}

test("A50 every field of the vendors' published documents has a row", () => {
  const documents = parseObject(readFileSync('tests/vendor-documents.json', 'utf8'))
  const tables = { 'chat completions': complete.chat, responses: complete.responses, messages: complete.messages }
  const missing = Object.keys(documents).flatMap((vendor) =>
    Object.entries(tables).flatMap(([api, table]) =>
      listAt(documents, vendor, api).filter((field) => !Object.hasOwn(table, String(field))),
    ),
  )
  assert.deepEqual(missing, [])
  assert.ok(listAt(documents, 'OpenAI', 'responses').length > 20)
})

test('A50 operators can let through only what is passed on to some models, and what no table lists', () => {
  for (const table of Object.values(complete)) {
    for (const [field, { rule }] of Object.entries(table)) {
      if (/^\w+$/.test(field)) assert.equal(ownFields.has(field), rule !== 'where taken', field)
    }
  }
})

for (const [name, each] of Object.entries(cases)) {
  const { table, schema } = each
  describe(`A50 the table of ${name}`, () => {
    test('supports the fields of the schema, and only them', () => {
      const supported = Object.keys(table).filter((field) => table[field]?.neutral === undefined)
      const described = Object.keys(schema.properties).filter((field) => table[field]?.neutral === undefined)
      assert.deepEqual(supported.toSorted(), described.toSorted())
    })

    test('agrees with what is accepted and what is refused by name', () => {
      for (const [field, { neutral }] of Object.entries(table)) {
        if (neutral === undefined) continue
        const named = field.replaceAll('[]', '').split('.').at(-1)
        const refusal = refusedField(each, field, surprise)
        if (neutral === 'any value') assert.equal(refusal, undefined, field)
        else assert.ok(refusal?.replaceAll(/\[\d+\]/g, '').includes(`${named}`), `${field}: ${refusal}`)
        const values = neutral === 'any value' || 'fields' in neutral ? [] : neutral
        for (const value of [null, ...values]) {
          assert.equal(refusedField(each, field, value), undefined, `${field}: ${JSON.stringify(value)}`)
        }
      }
    })

    test('has no row for a field that nobody knows, which is refused', () => {
      assert.equal(refusedField(each, 'surprise', true), 'surprise')
    })
  })
}
