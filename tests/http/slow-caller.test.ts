import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { isEndure } from '../support/draws.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { delta, ending, startRawUpstream, streamHead } from '../support/raw-upstream.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'

const addresses = ['/v1/generate', '/v1/chat/completions', '/v1/responses', '/v1/messages'] as const
const user = [{ role: 'user', content: 'Hello' }]
const bodies = {
  '/v1/generate': { input: 'Hello', max_output_tokens: 7_000_000 },
  '/v1/chat/completions': { messages: user, max_tokens: 7_000_000 },
  '/v1/responses': { input: 'Hello', max_output_tokens: 7_000_000 },
  '/v1/messages': { messages: user, max_tokens: 7_000_000 },
}
const megabytes = 1024 * 1024
/** 100 MB in events of 50 kB: more than the connections buffer, which may be 32 MiB each. */
const event = Buffer.from(delta('word '.repeat(10_000)))
const events = 2000

let sent = 0
const upstream = fixture(() => startRawUpstream())
const service = fixture(() =>
  startService({
    models: [upstreamModel(upstream.url, { context: 8_000_000, max_output_tokens: 7_000_000 })],
  }),
)
setUp(() => {
  upstream.behave((socket) => {
    sent = 0
    socket.write(streamHead)
    sendAll(socket)
  })
})

/** Sends as fast as the other side reads, without buffering. */
function sendAll(socket: Socket): void {
  if (socket.destroyed) return
  if (sent === events) socket.end(ending)
  else
    socket.write(event, () => {
      sent++
      sendAll(socket)
    })
}

/** A caller on a raw connection that does not read until the test does. */
async function call(address: (typeof addresses)[number], key: string): Promise<Socket> {
  const body = JSON.stringify({ model: 'fast', stream: true, ...bodies[address] })
  const socket = connect(service.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  const head = `POST ${address} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json`
  socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  return socket
}

describe('a caller that does not read', () => {
  for (const address of isEndure ? addresses : addresses.slice(0, 1)) {
    it(`pauses the upstream of ${address}, until it reads on or disconnects`, async () => {
      const { accountId, key } = await service.customer({ credit: 10n ** 20n, tokensPerMinute: 100_000_000 })
      const socket = await call(address, key)
      // All buffers between upstream and caller are full once nothing has moved for a while.
      let last = -1
      await until(() => sent > 0)
      while (sent !== last) {
        last = sent
        await new Promise((resolve) => setTimeout(resolve, 300))
      }
      assert.ok(last < 0.9 * events, `${last} of ${events} events were taken`)
      let read = 0
      socket.on('data', (chunk) => (read += chunk.length))
      socket.resume()
      await until(() => read > 20 * megabytes)
      socket.destroy()
      await until(async () => (await service.books(accountId)).holds === 0)
      const { rows, held } = await service.books(accountId)
      assert.deepEqual([rows.map(({ stopReason }) => stopReason), held], [['cancelled'], 0n])
      await until(() => upstream.connections === 0)
    })
  }
})
