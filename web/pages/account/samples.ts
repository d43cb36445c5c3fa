interface Call {
  readonly baseUrl: string
  readonly key: string
  readonly model: string
}

/** A first call with a key, for each way to call the API. The names of models and keys need no escaping. */
export const samples: readonly { readonly name: string; readonly text: (call: Call) => string }[] = [
  {
    name: 'curl',
    text: ({ baseUrl, key, model }) => `curl ${baseUrl}/v1/generate \\
  --header "Authorization: Bearer ${key}" \\
  --header "Content-Type: application/json" \\
  --data '{"model": "${model}", "input": "What is a ledger?", "max_output_tokens": 60}'`,
  },
  {
    name: 'OpenAI, JavaScript',
    text: ({ baseUrl, key, model }) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${baseUrl}/v1', apiKey: '${key}' })
const chat = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'What is a ledger?' }],
})
console.log(chat.choices[0].message.content)`,
  },
  {
    name: 'OpenAI, Python',
    text: ({ baseUrl, key, model }) => `from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key="${key}")
chat = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "What is a ledger?"}],
)
print(chat.choices[0].message.content)`,
  },
  {
    name: 'Anthropic, JavaScript',
    text: ({ baseUrl, key, model }) => `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${baseUrl}', apiKey: '${key}' })
const message = await client.messages.create({
  model: '${model}',
  max_tokens: 60,
  messages: [{ role: 'user', content: 'What is a ledger?' }],
})
for (const block of message.content) if (block.type === 'text') console.log(block.text)`,
  },
  {
    name: 'Anthropic, Python',
    text: ({ baseUrl, key, model }) => `from anthropic import Anthropic

client = Anthropic(base_url="${baseUrl}", api_key="${key}")
message = client.messages.create(
    model="${model}",
    max_tokens=60,
    messages=[{"role": "user", "content": "What is a ledger?"}],
)
print(message.content[0].text)`,
  },
]
