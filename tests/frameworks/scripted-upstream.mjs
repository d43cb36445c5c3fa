import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

/** What OpenAI's API counts for every reply: 40 tokens that were not cached, 60 that were, and 20 of output. */
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 0 },
}

/**
 * Starts a stand-in for OpenAI's chat completions, whole and streamed. It has no list of models, so that nothing is detected.
 * It gives the replies of `script` in turn, and 500 after the last one. A reply has a `text`, `calls` of tools with `id`,
 * `name` and `input` (the text of a JSON object), or both. `requests` are the bodies received since.
 */
export async function startScriptedUpstream() {
  let replies = []
  let requests = []
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function answer(request, response) {
    if (request.method !== 'POST') return void response.writeHead(404).end()
    const body = await json(request)
    requests.push(body)
    const reply = replies.shift()
    if (reply === undefined) response.writeHead(500).end()
    else if (body.stream) stream(response, reply)
    else whole(response, reply)
  }

  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    get requests() {
      return requests
    },
    script(next) {
      replies = [...next]
      requests = []
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const finishReasonOf = ({ calls }) => (calls ? 'tool_calls' : 'stop')

const messageOf = ({ text, calls }) => ({
  role: 'assistant',
  content: text ?? null,
  ...(calls && { tool_calls: callsOf(calls) }),
})

/** Calls as chat completions write them. */
export const callsOf = (calls) =>
  calls.map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: input } }))

function whole(response, reply) {
  const choice = { index: 0, message: messageOf(reply), finish_reason: finishReasonOf(reply) }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id: 'c', object: 'chat.completion', choices: [choice], usage }))
}

/** Sends a reply in pieces: a word of the text, or 7 characters of a call's input. */
function stream(response, reply) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (choices, more = {}) =>
    response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices, ...more })}\n\n`)
  const delta = (piece, finish_reason = null) => send([{ index: 0, delta: piece, finish_reason }])

  delta({ role: 'assistant', content: null })
  for (const content of reply.text?.match(/\s*\S+/g) ?? []) delta({ content })
  for (const [index, { function: called, ...call }] of callsOf(reply.calls ?? []).entries()) {
    delta({ tool_calls: [{ index, ...call, function: { name: called.name, arguments: '' } }] })
    for (const piece of called.arguments.match(/.{1,7}/gs) ?? []) {
      delta({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
  }
  delta({}, finishReasonOf(reply))
  send([], { usage })
  response.end('data: [DONE]\n\n')
}
