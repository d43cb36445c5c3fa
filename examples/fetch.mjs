// Usage: node examples/fetch.mjs [address] [key] [model], or TOLLGATE_URL, TOLLGATE_KEY and TOLLGATE_MODEL.
import { randomUUID } from 'node:crypto'

const url = process.argv[2] ?? process.env.TOLLGATE_URL ?? 'http://localhost:8080'
const key = process.argv[3] ?? process.env.TOLLGATE_KEY
const model = process.argv[4] ?? process.env.TOLLGATE_MODEL ?? 'default'

async function generate(body) {
  const response = await fetch(`${url}/v1/generate`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      // Makes the request safe to retry: it is charged once.
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ model, input: 'What is a ledger?', max_output_tokens: 60, ...body }),
  })
  if (response.ok) return response
  /** @type {any} */
  const { error } = await response.json()
  throw new Error(`${error.code}: ${error.reason} (request ${error.request_id})`)
}

const whole = await generate({})
console.log(await whole.json(), 'for', whole.headers.get('x-cost'))

// Server-sent events: any number of output_text.delta, then one done or error.
let text = ''
const stream = await generate({ stream: true })
for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
  const events = (text + chunk).split('\n\n')
  text = events.pop()
  for (const event of events) {
    const [, name, data] = /^event: (.+)\ndata: (.+)$/.exec(event) ?? []
    if (name === 'output_text.delta') process.stdout.write(JSON.parse(data).delta)
    if (name === 'done') console.log('\n', JSON.parse(data).usage)
    if (name === 'error') throw new Error(JSON.parse(data).error.reason)
  }
}
