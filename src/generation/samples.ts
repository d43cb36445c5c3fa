import { javascriptText, nodeSecrets, pythonArguments } from '../platform/docs/literals.ts'
import { docsAddress } from '../platform/http/examples.ts'
import { chatExample, countMessagesExample, embeddingsExample, messagesExample, responsesExample } from './examples.ts'

/** Samples with the official libraries, for the OpenAPI document. */

const libraries = {
  openai: {
    javascript: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${docsAddress}/v1', apiKey: ${nodeSecrets.key} })
`,
    python: `import os

from openai import OpenAI

client = OpenAI(base_url="${docsAddress}/v1", api_key=os.environ["TOLLGATE_KEY"])
`,
  },
  anthropic: {
    javascript: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${docsAddress}', apiKey: ${nodeSecrets.key} })
`,
    python: `import os

from anthropic import Anthropic

client = Anthropic(base_url="${docsAddress}", api_key=os.environ["TOLLGATE_KEY"])
`,
  },
} as const

/** The lines after the client has been created. */
interface Lines {
  readonly javascript: string
  readonly python: string
}

function samples(label: keyof typeof libraries, whole: Lines, stream?: Lines) {
  const variants = [{ streams: false, lines: whole }, ...(stream ? [{ streams: true, lines: stream }] : [])]
  return {
    'x-codeSamples': variants.flatMap(({ streams, lines }) =>
      (['javascript', 'python'] as const).map((lang) => ({
        lang,
        label,
        streams,
        source: libraries[label][lang] + lines[lang],
      })),
    ),
  }
}

const js = (name: string, method: string, body: object) =>
  `const ${name} = await client.${method}(${javascriptText(body)})\n`
const py = (name: string, method: string, body: object) =>
  `${name} = client.${method}(\n${pythonArguments(body, '    ')})\n`
export const embeddingsSamples = samples('openai', {
  javascript: `${js('made', 'embeddings.create', embeddingsExample.request)}console.log(made.data[0].embedding.length)\n`,
  python: `${py('made', 'embeddings.create', embeddingsExample.request)}print(len(made.data[0].embedding))\n`,
})

const streaming = (body: object) => ({ ...body, stream: true })

export const chatSamples = samples(
  'openai',
  {
    javascript: `${js('completion', 'chat.completions.create', chatExample.request)}console.log(completion.choices[0].message.content)`,
    python: `${py('completion', 'chat.completions.create', chatExample.request)}print(completion.choices[0].message.content)`,
  },
  {
    javascript: `${js('stream', 'chat.completions.create', streaming(chatExample.request))}for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '')`,
    python: `${py('stream', 'chat.completions.create', streaming(chatExample.request))}for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`,
  },
)

export const responsesSamples = samples(
  'openai',
  {
    javascript: `${js('response', 'responses.create', responsesExample.request)}console.log(response.output_text)`,
    python: `${py('response', 'responses.create', responsesExample.request)}print(response.output_text)`,
  },
  {
    javascript: `${js('stream', 'responses.create', streaming(responsesExample.request))}for await (const event of stream) {
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)
}`,
    python: `${py('stream', 'responses.create', streaming(responsesExample.request))}for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="")`,
  },
)

export const messagesSamples = samples(
  'anthropic',
  {
    javascript: `${js('message', 'messages.create', messagesExample.request)}console.log(message.content[0].text)`,
    python: `${py('message', 'messages.create', messagesExample.request)}print(message.content[0].text)`,
  },
  {
    javascript: `const stream = client.messages.stream(${javascriptText(messagesExample.request)})
stream.on('text', (text) => process.stdout.write(text))
await stream.finalMessage()`,
    python: `with client.messages.stream(
${pythonArguments(messagesExample.request, '    ')}) as stream:
    for text in stream.text_stream:
        print(text, end="")`,
  },
)

export const countMessagesSamples = samples('anthropic', {
  javascript: `${js('count', 'messages.countTokens', countMessagesExample.request)}console.log(count.input_tokens)`,
  python: `${py('count', 'messages.count_tokens', countMessagesExample.request)}print(count.input_tokens)`,
})

export const modelsSamples = samples('openai', {
  javascript: 'for await (const model of client.models.list()) console.log(model.id)',
  python: 'for model in client.models.list():\n    print(model.id)',
})

export const modelSamples = samples('openai', {
  javascript: "const model = await client.models.retrieve('default')\nconsole.log(model.id)",
  python: 'model = client.models.retrieve("default")\nprint(model.id)',
})
