import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { at } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { startService, upstreamModel, type Service } from '../support/service.ts'
import type { VendorOptions } from '../support/vendor-options.ts'
import { startVendor } from '../support/vendor.ts'

/** Reasoning without its text costs the same as with it, whole, streamed, and when a stream breaks off. */

let service: Service
const vendor = fixture(() => startVendor())
setUp(async () => {
  const claude = { id: 'claude', engine: 'ai-sdk', package: '@ai-sdk/anthropic', upstream_model: 'claude-opus-4-6' }
  const { url } = vendor
  const models = [
    upstreamModel(url),
    upstreamModel(url, { ...claude, endpoints: undefined, url: vendor.url, key: 'sk-vendor' }),
  ]
  service = await startService({ models })
})
after(() => service.close())

const words = 'One two three four'
const usage = { prompt_tokens: 100, completion_tokens: 20 }

/** Asks with this display, and returns what the caller received and what was charged. */
async function ask(model: string, display: 'summarized' | 'omitted', stream: boolean, options: VendorOptions) {
  vendor.set({ thinking: words, signature: 'c2ln', text: 'Five.', ...options })
  const { accountId, key } = await service.customer()
  const { messages } = new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0 })
  const body = {
    model,
    max_tokens: 100,
    thinking: { type: 'adaptive' as const, display },
    messages: [{ role: 'user' as const, content: 'Count.' }],
  }
  const seen = stream ? await readText(messages.stream(body)) : JSON.stringify(await messages.create(body))
  const { rows, holds } = await service.books(accountId)
  assert.equal(holds, 0)
  return {
    seen,
    charged: rows.map((row) => [row.stopReason, row.inputTokens, row.outputTokens, row.cost, row.usageSource]),
  }
}

/** The events of a stream as text, with its error if it breaks off. */
async function readText(stream: AsyncIterable<object>): Promise<string> {
  let seen = ''
  try {
    for await (const event of stream) seen += JSON.stringify(event)
  } catch (error) {
    seen += String(error)
  }
  return seen
}

for (const stream of [false, true]) {
  it(`reasoning is left out of a chat completion that excludes it, ${stream ? 'streamed' : 'whole'}`, async () => {
    const reasoning = { kind: 'reasoning', text: words, signature: 'c2ln' } as const
    vendor.set({ parts: [reasoning, { kind: 'text', text: 'Five.' }], usage })
    const { accountId, key } = await service.customer()
    const answered = async (fields: object) => {
      const body = {
        model: 'fast',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Count.' }],
        stream,
        ...fields,
      }
      return (await service.post('/v1/chat/completions', key, body)).text()
    }
    assert.match(await answered({ include_reasoning: true }), /reasoning_content.*One/s)
    for (const fields of [{ reasoning: { exclude: true } }, { include_reasoning: false }]) {
      const seen = await answered(fields)
      assert.doesNotMatch(seen, /One|two|reasoning_content|reasoning_details/)
      assert.match(seen, /Five/)
    }
    const { rows } = await service.books(accountId)
    assert.deepEqual(new Set(rows.map(({ outputTokens }) => outputTokens)), new Set([20]))
  })
}

const ways: Readonly<Record<string, readonly [stream: boolean, options: VendorOptions]>> = {
  'a whole reply': [false, { usage }],
  'a stream': [true, { usage }],
  'a stream that breaks off while the model thinks': [true, { fault: 'reset', after: 3, usageOn: 'none' }],
}

for (const model of ['fast', 'claude']) {
  describe(`reasoning of ${model} without its text`, () => {
    for (const [what, [stream, options]] of Object.entries(ways)) {
      it(`cost the same in ${what}`, async () => {
        const shown = await ask(model, 'summarized', stream, options)
        const omitted = await ask(model, 'omitted', stream, options)
        assert.match(shown.seen, /One/)
        assert.doesNotMatch(omitted.seen, /One|two|thinking_delta/)
        assert.match(omitted.seen, /"type":"thinking","thinking":""/)
        assert.equal(omitted.charged.length, 1)
        assert.deepEqual(omitted.charged, shown.charged)
        assert.equal(omitted.charged[0]?.[0], options.fault ? 'error' : 'complete')
        assert.deepEqual(at(vendor.last.body, 'thinking', 'display'), undefined)
      })
    }
  })
}
