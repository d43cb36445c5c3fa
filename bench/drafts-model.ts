import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

/** A stand-in for a model that notes when it was asked for a letter, and when it sent the first token. */
export interface DraftsModel {
  readonly url: string
  /** By the instructions of the letter, in ms of `performance.now()`. */
  readonly times: ReadonlyMap<string, { readonly asked: number; readonly first: number }>
  close(): void
}

/** Tokens of a letter, and ms before each of them. */
const tokens = 40
const pace = 10

export async function startDraftsModel(): Promise<DraftsModel> {
  const times = new Map<string, { asked: number; first: number }>()
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = performance.now()
    const instructions = instructionsOf(await text(request))
    await write(response, () => times.set(instructions, { asked, first: performance.now() }))
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The stand-in for the model does not listen.')
  return { url: `http://127.0.0.1:${address.port}/v1`, times, close: () => server.close() }
}

/** The first message of the request. */
function instructionsOf(body: string): string {
  return /"role":"system","content":"([^"]*)"/.exec(body)?.[1] ?? ''
}

async function write(response: ServerResponse, onFirst: () => void): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let sent = 0; sent < tokens; sent++) {
    await wait(pace)
    if (sent === 0) onFirst()
    response.write(event({ choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }] }))
  }
  response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }))
  response.write(event({ choices: [], usage: { prompt_tokens: 100, completion_tokens: tokens } }))
  response.end('data: [DONE]\n\n')
}

const event = (data: object): string => `data: ${JSON.stringify({ object: 'chat.completion.chunk', ...data })}\n\n`
