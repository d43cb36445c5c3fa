import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, streamText, type LanguageModel } from 'ai'
import { openVendorService } from '../support/vendor-service.ts'

const { vendor, service } = openVendorService()

/** The AI SDK's providers for the compatibility endpoints. */
const ways: Readonly<Record<string, (options: { baseURL: string; apiKey: string }) => LanguageModel>> = {
  '@ai-sdk/openai, responses': (options) => createOpenAI(options)('fast'),
  '@ai-sdk/openai, chat completions': (options) => createOpenAI(options).chat('fast'),
  '@ai-sdk/anthropic': (options) => createAnthropic(options)('fast'),
  '@ai-sdk/openai-compatible': (options) =>
    createOpenAICompatible({ name: 'tollgate', includeUsage: true, ...options })('fast'),
}

describe('the AI SDK', () => {
  for (const [name, way] of Object.entries(ways)) {
    const modelOf = (apiKey: string) => way({ baseURL: `${service.url}/v1`, apiKey })
    const conversation = [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: 'Three' },
    ] as const

    it(`A30 generates a text through ${name}`, async () => {
      const { accountId, key } = await service.customer()
      const asked = { model: modelOf(key), system: 'Answer.', messages: [...conversation], maxOutputTokens: 50 }
      const { text, usage, finishReason } = await generateText({ ...asked, temperature: 0.5 })
      assert.deepEqual([text, usage.inputTokens, usage.outputTokens, finishReason], ['Hello there.', 12, 3, 'stop'])
      assert.match(
        JSON.stringify(vendor.last.body),
        /"system","content":"Answer."},\{"role":"user","content":"One"},\{"role":"assistant","content":"Two"},/,
      )
      assert.equal((await service.books(accountId)).rows.length, 1)
    })

    it(`A30 streams a text through ${name}`, async () => {
      const { accountId, key } = await service.customer()
      const stream = streamText({ model: modelOf(key), prompt: 'Hello', maxOutputTokens: 50 })
      const deltas = await Array.fromAsync(stream.textStream)
      assert.equal(deltas.join(''), 'Hello there.')
      const usage = await stream.usage
      assert.deepEqual([usage.inputTokens, usage.outputTokens, await stream.finishReason], [12, 3, 'stop'])
      assert.equal((await service.books(accountId)).rows.length, 1)
    })

    it(`A30 throws its error through ${name}, and retries only retryable failures`, async () => {
      const wrong = generateText({ model: modelOf('tg_wrong'), prompt: 'Hello' })
      await assert.rejects(wrong, (error) => APICallError.isInstance(error) && error.statusCode === 401)
      const { accountId, key } = await service.customer({ requestsPerMinute: 60 })
      await Promise.all(Array.from({ length: 60 }, () => service.call('/v1/count_tokens', key, counted)))
      const { text } = await generateText({ model: modelOf(key), prompt: 'Hello', maxRetries: 3 })
      assert.equal(text, 'Hello there.')
      assert.equal((await service.books(accountId)).rows.length, 1)
    })
  }
})

const counted = { model: 'fast', input: 'Hello', max_output_tokens: 1 }
