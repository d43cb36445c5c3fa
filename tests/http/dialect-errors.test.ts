import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { objectAt } from '../support/json.ts'
import { openVendorService } from '../support/vendor-service.ts'

const { vendor, service } = openVendorService()

const user = { role: 'user', content: 'Hello' } as const

describe('a URL below /v1 that no route serves is refused in the format of its API', () => {
  const openAi = ['/v1/completions', '/v1/chat/nothing', '/v1/responses/resp_1', '/v1/threads?limit=1']
  for (const url of openAi) {
    it(`${url}: OpenAI's`, async () => {
      const { key } = await service.customer()
      const { status, json, error } = await service.call(url, key)
      assert.equal(status, 404)
      assert.deepEqual(Object.keys(json), ['error'])
      assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code'])
      assert.equal(error['code'], 'not_found')
    })
  }

  it("/v1/messages/nothing: Anthropic's", async () => {
    const { key } = await service.customer()
    const { status, json, error } = await service.call('/v1/messages/nothing', key, {})
    assert.equal(status, 404)
    assert.equal(json['type'], 'error')
    assert.equal(error['type'], 'not_found_error')
  })

  it("any URL with anthropic-version: Anthropic's", async () => {
    const { key } = await service.customer()
    const { json } = await service.call('/v1/nothing', key, undefined, { 'anthropic-version': '2023-06-01' })
    assert.equal(json['type'], 'error')
  })

  it('a wrong method: the same format', async () => {
    const { key } = await service.customer()
    const { status, error } = await service.call('/v1/chat/completions', key)
    assert.equal(status, 405)
    assert.equal(error['code'], 'method_not_allowed')
    assert.ok('message' in error)
  })

  it("any other URL: Tollgate's own", async () => {
    const { key } = await service.customer()
    for (const url of ['/v1/nothing', '/v1/chatty', '/v2/chat/completions', '/chat/completions']) {
      const { status, error } = await service.call(url, key)
      assert.equal(status, 404, url)
      assert.ok('reason' in error && 'docs' in error, url)
    }
  })

  it('the official clients learn what is wrong with their base URL', async () => {
    const { key } = await service.customer()
    const openai = new OpenAI({ baseURL: service.url, apiKey: key, maxRetries: 0 })
    const anthropic = new Anthropic({ baseURL: `${service.url}/v1`, apiKey: key, maxRetries: 0 })
    const chat = { model: 'fast', messages: [user], max_tokens: 5 }
    for (const [call, hint] of [
      [() => openai.chat.completions.create(chat), /Call \/v1\/chat\/completions instead: .* must end with \/v1/],
      [() => openai.responses.create({ model: 'fast', input: 'x' }), /Call \/v1\/responses instead/],
      [() => anthropic.messages.create(chat), /Remove \/v1 from the end of the base URL/],
    ] as const) {
      await assert.rejects(call, hint)
    }
    for (const url of ['/v1/nothing', '/chat', '/responses/x', '/v1/messages/v1/']) {
      const { text } = await service.call(url, key)
      assert.doesNotMatch(text, /base URL/, url)
    }
  })
})

describe('a refusal names the field as its dialect does', () => {
  const bodies = {
    '/v1/generate': [{ model: 'fast', input: 'Hello', max_output_tokens: 4000 }, 'max_output_tokens'],
    '/v1/chat/completions': [{ model: 'fast', messages: [user], max_tokens: 4000 }, 'max_tokens'],
    '/v1/responses': [{ model: 'fast', input: 'Hello', max_output_tokens: 4000 }, 'max_output_tokens'],
    '/v1/messages': [{ model: 'fast', messages: [user], max_tokens: 4000 }, 'max_tokens'],
  } as const
  const newer = { model: 'fast', messages: [user], max_completion_tokens: 4000 }

  for (const [url, [body, field]] of [
    ...Object.entries(bodies),
    ['/v1/chat/completions', [newer, 'max_completion_tokens']] as const,
  ]) {
    it(`${url} names ${field} for a request that can never fit and for too little credit`, async () => {
      const small = await service.customer({ tokensPerMinute: 1000 })
      const poor = await service.customer({ credit: 1n })
      for (const [key, status] of [
        [small.key, 400],
        [poor.key, 402],
      ] as const) {
        const answer = await service.call(url, key, body)
        assert.equal(answer.status, status, answer.text)
        const { field: named = answer.error['param'] ?? field, reason = answer.error['message'] } = answer.error
        assert.equal(named, field)
        assert.match(String(reason), new RegExp(`\\b${field}\\b`))
      }
      assert.deepEqual((await service.books(small.accountId)).rows, [])
    })
  }
})

describe('POST /v1/messages/count_tokens', () => {
  it('counts for the official client, free of charge, as one request of the limit', async () => {
    const { key, accountId } = await service.customer({ requestsPerMinute: 2 })
    const anthropic = new Anthropic({ baseURL: service.url, apiKey: key, maxRetries: 0 })
    const body = { model: 'fast', system: 'Be brief.', messages: [user] }
    const { data, response } = await anthropic.messages.countTokens(body).withResponse()
    assert.deepEqual(Object.keys(data), ['input_tokens'])
    assert.ok(data.input_tokens > 0)
    assert.equal(response.headers.get('x-ratelimit-remaining-requests'), '1')
    assert.equal(response.headers.get('anthropic-ratelimit-requests-limit'), '2')
    const calls = vendor.calls
    assert.deepEqual((await service.books(accountId)).rows, [])
    assert.equal(vendor.calls, calls)
  })

  it('counts the same tokens as a request to generate', async () => {
    const { key } = await service.customer()
    const ours = await service.call('/v1/count_tokens', key, { model: 'fast', input: 'Hello', max_output_tokens: 1 })
    const theirs = await service.call('/v1/messages/count_tokens', key, { model: 'fast', messages: [user] })
    assert.equal(theirs.json['input_tokens'], ours.json['input_tokens'])
  })

  it('counts tools and earlier calls as well', async () => {
    const { key, accountId } = await service.customer()
    const { messages } = new Anthropic({ baseURL: service.url, apiKey: key, maxRetries: 0 })
    const tools = [
      { name: 'weather', description: 'The weather of a city.', input_schema: { type: 'object' as const } },
    ]
    const calls = [
      user,
      {
        role: 'assistant' as const,
        content: [{ type: 'tool_use' as const, id: 'a', name: 'weather', input: { city: 'Bonn' } }],
      },
      {
        role: 'user' as const,
        content: [{ type: 'tool_result' as const, tool_use_id: 'a', content: 'Sunny, 21 degrees' }],
      },
    ]
    const plain = await messages.countTokens({ model: 'fast', messages: [user] })
    const withTools = await messages.countTokens({ model: 'fast', messages: [user], tools })
    const withCalls = await messages.countTokens({ model: 'fast', messages: calls, tools })
    assert.ok(plain.input_tokens < withTools.input_tokens)
    assert.ok(withTools.input_tokens < withCalls.input_tokens)
    assert.deepEqual((await service.books(accountId)).rows, [])
  })

  it("refuses in Anthropic's format", async () => {
    const { key } = await service.customer()
    const { status, json, error } = await service.call('/v1/messages/count_tokens', key, { model: 'fast' })
    assert.equal(status, 400)
    assert.equal(json['type'], 'error')
    assert.match(String(error['message']), /messages/)
  })
})

describe('the OpenAPI document', () => {
  it('describes the streams of every endpoint that generates', async () => {
    const document = (await service.call('/openapi.json', undefined)).json
    for (const url of ['/v1/generate', '/v1/chat/completions', '/v1/responses', '/v1/messages']) {
      const content = objectAt(document, 'paths', url, 'post', 'responses', '200', 'content')
      assert.deepEqual(Object.keys(content), ['application/json', 'text/event-stream'], url)
    }
  })
})
