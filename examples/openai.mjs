// Usage: node examples/openai.mjs [address] [key] [model], or TOLLGATE_URL, TOLLGATE_KEY and TOLLGATE_MODEL.
import OpenAI from 'openai'

const url = process.argv[2] ?? process.env.TOLLGATE_URL ?? 'http://localhost:8080'
const key = process.argv[3] ?? process.env.TOLLGATE_KEY
const model = process.argv[4] ?? process.env.TOLLGATE_MODEL ?? 'default'

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
const question = 'What is a ledger?'

const chat = await client.chat.completions.create({
  model,
  messages: [{ role: 'user', content: question }],
  max_tokens: 60,
})
console.log(chat.choices[0].message.content, chat.usage)

const chunks = await client.chat.completions.create({
  model,
  messages: [{ role: 'user', content: question }],
  max_tokens: 60,
  stream: true,
})
for await (const { choices } of chunks) process.stdout.write(choices[0]?.delta.content ?? '')

const response = await client.responses.create({ model, input: question, max_output_tokens: 60 })
console.log('\n', response.output_text, response.usage)

for await (const { id } of client.models.list()) console.log('model', id)
console.log(model, 'is served by', (await client.models.retrieve(model)).id)
