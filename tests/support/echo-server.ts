import assert from 'node:assert/strict'
import { Type } from 'typebox'
import { disconnectSignal } from '../../src/platform/http/connection/disconnect.ts'
import { createServer, type ServerNeeds } from '../../src/platform/http/http.ts'
import type { RequestEnd } from '../../src/platform/http/log.ts'
import { createLog } from '../../src/platform/log/line-log.ts'
import { Problem, problems, type ProblemCode } from '../../src/platform/problems.ts'
import { objectAt, parseObject, type Json } from './json.ts'
import { openWire, type WireAnswer } from './wire.ts'

const baseUrl = 'https://tollgate.example'
export const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Starts a server with a few routes that records what happens. */
export async function startServer(
  options: Partial<Pick<ServerNeeds, 'drainTime' | 'idleGrace' | 'timeouts' | 'requestBytes'>> = {},
) {
  const lines: string[] = []
  const ends: RequestEnd[] = []
  const served: string[] = []
  let held: Promise<void> | undefined
  const log = createLog({ write: (line: string) => lines.push(line) })
  const onEnd = (end: RequestEnd) => ends.push(end)
  const server = createServer({ log, requestBytes: 1024, baseUrl, onEnd, idleGrace: 0, ...options })
  const body = Type.Object({ text: Type.String({ format: 'text' }) }, { additionalProperties: false })
  server.post('/v1/echo', { schema: { body } }, async (request) => {
    served.push('echo')
    return { text: request.body.text, hash: request.bodyHash }
  })
  server.get('/v1/slow/:id', async (_request, reply) => {
    served.push('slow')
    const gone = disconnectSignal(reply)
    gone.addEventListener('abort', () => served.push('gone'))
    await (held ?? new Promise((resolve) => setTimeout(resolve, 300)))
    return { aborted: gone.aborted }
  })
  server.get('/v1/late', async (_request, reply) => {
    served.push('late')
    await held
    served.push(disconnectSignal(reply).aborted ? 'gone' : 'there')
    return {}
  })
  server.get('/fails', async () => {
    throw new TypeError('a text that must not leave')
  })
  server.get('/refuses', async () => {
    throw new Problem('rate_limit_exceeded', 'Too fast.', {
      retryAfter: 7,
      limit: { name: 'requests_per_minute', value: 60, remaining: 0 },
    })
  })
  server.get('/refuses/key', async () => {
    throw new Problem('missing_key', 'Send a key.')
  })
  server.get('/healthz', { config: { whileDraining: true } }, async () => ({ status: 'ok' }))
  await server.listen({ port: 0, host: '127.0.0.1' })
  const port = Number(new URL(server.listeningOrigin).port)
  return {
    server,
    port,
    url: server.listeningOrigin,
    lines,
    ends,
    served,
    /** Makes the slow routes wait until the returned function is called. */
    hold(this: void): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
  }
}

function errorOf(answer: { body: string }) {
  return objectAt(parseObject(answer.body), 'error')
}

/** Asserts that a response is this error, with every field and header that errors have. */
export function assertRefusal(answer: WireAnswer, code: ProblemCode): Json {
  const error = errorOf(answer)
  assert.equal(error['code'], code)
  assert.equal(answer.status, problems[code].status)
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  assert.match(String(answer.headers['request-id']), uuidv7)
  assert.equal(error['request_id'], answer.headers['request-id'])
  assert.equal(error['docs'], `${baseUrl}/docs/errors#${code}`)
  assert.equal(typeof error['reason'], 'string')
  assert.match(String(answer.headers['x-should-retry']), /^(true|false)$/)
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.equal(answer.headers['referrer-policy'], 'no-referrer')
  assert.deepEqual(
    Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
    [],
  )
  return error
}

/** The bytes of a request to /v1/echo. */
export const post = (body: string | Buffer, headers = 'content-type: application/json\r\n') =>
  Buffer.concat([
    Buffer.from(`POST /v1/echo HTTP/1.1\r\nhost: x\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n`),
    Buffer.from(body),
  ])
export const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

/** Sends bytes over a new connection. Returns the first response. */
export async function exchange(port: number, data: string | Buffer): Promise<WireAnswer> {
  const wire = await openWire(port)
  wire.send(data)
  const answer = await wire.answer()
  wire.cut()
  return answer
}
