// Usage: node examples/anthropic.mjs [address] [key] [model], or TOLLGATE_URL, TOLLGATE_KEY and TOLLGATE_MODEL.
import Anthropic from '@anthropic-ai/sdk'

const url = process.argv[2] ?? process.env.TOLLGATE_URL ?? 'http://localhost:8080'
const key = process.argv[3] ?? process.env.TOLLGATE_KEY
const model = process.argv[4] ?? process.env.TOLLGATE_MODEL ?? 'default'

// The SDK adds /v1 itself.
const client = new Anthropic({ baseURL: url, apiKey: key })
const question = 'What is a ledger?'

const message = await client.messages.create({
  model,
  max_tokens: 60,
  messages: [{ role: 'user', content: question }],
})
for (const block of message.content) if (block.type === 'text') console.log(block.text, message.usage)

const stream = client.messages.stream({
  model,
  max_tokens: 60,
  messages: [{ role: 'user', content: question }],
})
stream.on('text', (text) => process.stdout.write(text))
console.log('\n', (await stream.finalMessage()).usage)

for await (const { id } of client.models.list()) console.log('model', id)
console.log(model, 'is served by', (await client.models.retrieve(model)).id)
