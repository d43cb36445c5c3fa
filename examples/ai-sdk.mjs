// Usage: node examples/ai-sdk.mjs [address] [key] [model], or TOLLGATE_URL, TOLLGATE_KEY and TOLLGATE_MODEL.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, streamText } from 'ai'

const url = process.argv[2] ?? process.env.TOLLGATE_URL ?? 'http://localhost:8080'
const key = process.argv[3] ?? process.env.TOLLGATE_KEY
const model = process.argv[4] ?? process.env.TOLLGATE_MODEL ?? 'default'

const options = { baseURL: `${url}/v1`, apiKey: key }
// Any of the three works.
const providers = [
  createOpenAICompatible({ name: 'tollgate', includeUsage: true, ...options }),
  createOpenAI(options),
  createAnthropic(options),
]

for (const provider of providers) {
  const request = { model: provider(model), prompt: 'What is a ledger?', maxOutputTokens: 60 }
  const { text, usage } = await generateText(request)
  console.log(text, usage.inputTokens, usage.outputTokens)

  const stream = streamText(request)
  for await (const delta of stream.textStream) process.stdout.write(delta)
  console.log('\n', (await stream.usage).totalTokens)
}
