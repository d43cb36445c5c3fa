import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Compile } from 'typebox/compile'
import { at, listAt, objectAt, type Json } from '../support/json.ts'
import { setUp } from '../support/fixture.ts'
import type { VendorOptions } from '../support/vendor-options.ts'
import { openVendorService } from '../support/vendor-service.ts'

let paths: Json
const { vendor, service } = openVendorService()
setUp(async () => {
  paths = objectAt((await service.call('/openapi.json', undefined)).json, 'paths')
})

/** The schema without fields that it does not list. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]))
  return 'properties' in parts ? { additionalProperties: false, ...parts } : parts
}

const compileClosed = (schema: unknown) => Compile(objectAt({ schema: closed(schema) }, 'schema'))

/** Fails unless the OpenAPI document describes every field of a reply. */
function assertDescribed(method: 'get' | 'post', path: string, { status, json }: { status: number; json: Json }): void {
  const schema = at(paths, path, method, 'responses', String(status), 'content', 'application/json', 'schema')
  assert.ok(schema, `${path} ${status} is not described`)
  const errors = compileClosed(schema).Errors(json)
  assert.deepEqual([...errors], [], `${path} ${status}: ${JSON.stringify(json)}`)
}

const asked = { model: 'fast', messages: [{ role: 'user', content: 'Hello' }] }
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const format = { type: 'json_schema', name: 'place', schema: parameters, strict: true }
const called: VendorOptions = {
  thinking: 'Let me see.',
  signature: 'signed',
  calls: [{ id: 'call_1', name: 'weather', input: '{"city":"Bonn"}' }],
  usage: { prompt_tokens: 9, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 4 } },
}
const cutOff: VendorOptions = { finishReason: 'length' }
const generating: readonly (readonly [path: string, body: Json])[] = [
  ['/v1/generate', { model: 'fast', input: 'Hello', max_output_tokens: 10 }],
  ['/v1/chat/completions', asked],
  ['/v1/chat/completions', { ...asked, tools: [{ type: 'function', function: { name: 'weather', parameters } }] }],
  ['/v1/messages', { ...asked, max_tokens: 10 }],
  ['/v1/messages', { ...asked, max_tokens: 10, tools: [{ name: 'weather', input_schema: parameters }] }],
  ['/v1/responses', { model: 'fast', input: 'Hello' }],
  ['/v1/responses', { model: 'fast', input: 'Hello', text: { format }, tool_choice: 'none' }],
  [
    '/v1/responses',
    {
      model: 'fast',
      input: 'Hello',
      instructions: 'Be brief.',
      max_output_tokens: 10,
      metadata: { project: 'x' },
      parallel_tool_calls: false,
      prompt_cache_key: 'x',
      reasoning: { effort: 'low', summary: 'auto' },
      temperature: 1,
      text: { format: { type: 'json_object' } },
      tool_choice: { type: 'function', name: 'weather' },
      tools: [{ type: 'function', name: 'weather', description: 'The weather.', parameters, strict: true }],
      top_p: 0.5,
      user: 'someone',
    },
  ],
]

describe('the OpenAPI document describes every field', () => {
  for (const [path, body] of generating) {
    it(`of a reply of ${path} with ${Object.keys(body).join(', ')}`, async () => {
      const { key } = await service.customer()
      for (const options of 'tools' in body ? [called, cutOff] : [{}, cutOff]) {
        vendor.set(options)
        const reply = await service.call(path, key, body)
        assert.equal(reply.status, 200, reply.text)
        assertDescribed('post', path, reply)
      }
      vendor.set({})
    })
  }

  it('of a count', async () => {
    const { key } = await service.customer()
    const [path, body] = ['/v1/count_tokens', { model: 'fast', input: 'Hello', max_output_tokens: 10 }]
    assertDescribed('post', path, await service.call(path, key, body))
    const ofMessages = '/v1/messages/count_tokens'
    assertDescribed('post', ofMessages, await service.call(ofMessages, key, asked))
  })

  it('of the models, and of the errors of both APIs that share their URLs', async () => {
    const { key } = await service.customer()
    const anthropic = { 'anthropic-version': '2023-06-01' }
    for (const headers of [{}, anthropic]) {
      for (const [path, url] of [
        ['/v1/models', '/v1/models'],
        ['/v1/models/{id}', '/v1/models/fast'],
        ['/v1/models/{id}', '/v1/models/nothing'],
      ] as const) {
        for (const sent of [key, 'wrong', undefined]) {
          assertDescribed('get', path, await service.call(url, sent, undefined, headers))
        }
      }
    }
  })

  it('and not more: a schema that is closed refuses another field', () => {
    const schema = at(paths, '/v1/models', 'get', 'responses', '200', 'content', 'application/json', 'schema')
    const reply = { object: 'list', data: [], has_more: false, first_id: null, last_id: null }
    const check = compileClosed(schema)
    assert.deepEqual([check.Check(reply), check.Check({ ...reply, more: 1 })], [true, false])
    assert.equal(listAt(schema, 'required').length, 5)
  })
})
