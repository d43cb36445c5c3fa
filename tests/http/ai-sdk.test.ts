import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, type LanguageModel } from 'ai'
import { isEndure } from '../support/draws.ts'
import { openVendorService } from '../support/vendor-service.ts'

const { service } = openVendorService()

/** The AI SDK's providers for the compatibility endpoints. */
const ways: Readonly<Record<string, (options: { baseURL: string; apiKey: string }) => LanguageModel>> = {
  '@ai-sdk/openai, responses': (options) => createOpenAI(options)('fast'),
  '@ai-sdk/openai, chat completions': (options) => createOpenAI(options).chat('fast'),
  '@ai-sdk/anthropic': (options) => createAnthropic(options)('fast'),
  '@ai-sdk/openai-compatible': (options) =>
    createOpenAICompatible({ name: 'tollgate', includeUsage: true, ...options })('fast'),
}

describe('the AI SDK', () => {
  for (const [name, way] of Object.entries(ways).slice(isEndure ? 0 : -1)) {
    const modelOf = (apiKey: string) => way({ baseURL: `${service.url}/v1`, apiKey })
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
