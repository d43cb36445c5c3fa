import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { messages } from '../support/vendor-anthropic.ts'
import { embeddingsOf } from '../support/vendor-embeddings.ts'
import { chatCompletions } from '../support/vendor-openai.ts'

/** What it counts for every reply: 40 tokens that were not cached, 60 that were, and 20 of output. */
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 0 },
}

/**
 * Starts a stand-in for OpenAI's chat completions and Anthropic's messages, whole and streamed, and for OpenAI's embeddings. It
 * has no list of models, so that nothing is detected. It gives the replies of `script` in turn, and 500 after the last one; a
 * function returns the reply to a request. A stream with `cut` breaks off after two pieces. A reply has a `text`, `calls` of tools with `id`, `name` and `input` (the text of a JSON object), or both, and what the model
 * thought before: `thinking`, with its `signature` in messages. `requests` are the bodies received since.
 */
export async function startScriptedUpstream() {
  let replies = []
  let requests = []
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function answer(request, response) {
    const dialect = [chatCompletions, messages].find(({ path }) => path === request.url)
    if (!dialect && request.url !== '/v1/embeddings') return void response.writeHead(404).end()
    const body = await json(request)
    requests.push(body)
    if (!dialect) return void sendJson(response, JSON.stringify(embeddingsOf(body).body))
    const reply = typeof replies === 'function' ? replies(body) : replies.shift()
    if (reply === undefined) response.writeHead(500).end()
    else if (body.stream) stream(response, dialect.frames({ usage, ...reply }), reply.cut)
    else sendJson(response, dialect.whole({ usage, ...reply }))
  }

  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    get requests() {
      return requests
    },
    script(next) {
      replies = typeof next === 'function' ? next : [...next]
      requests = []
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const sendJson = (response, body) => response.writeHead(200, { 'content-type': 'application/json' }).end(body)

function stream(response, { head, tokens, finish, terminal }, isCut) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (isCut) return void response.write(Buffer.concat([...head, ...tokens.slice(0, 2)]), () => response.destroy())
  for (const frame of [...head, ...tokens, ...finish]) response.write(frame)
  response.end(terminal)
}
