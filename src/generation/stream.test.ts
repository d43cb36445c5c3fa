import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import net from 'node:net'
import { describe, it } from 'node:test'
import { createEventStream } from './stream.ts'

/** Serves one request, and gives the caller's bare connection, which reads only when it is told. */
async function connect(serve: (response: ServerResponse) => Promise<void>) {
  const done = Promise.withResolvers<void>()
  const server = createServer((_request, response) => {
    serve(response).then(done.resolve, done.reject)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const socket = net.connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  return {
    socket,
    done: done.promise,
    async [Symbol.asyncDispose]() {
      socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('a stream of events', () => {
  it('sends nothing before it begins, each event by one write, and pings in the pauses', async () => {
    let begun: readonly boolean[] = []
    await using caller = await connect(async (response) => {
      const stream = createEventStream(response, { ping: 20, patience: 1000 })
      begun = [stream.begun]
      await new Promise((resolve) => setTimeout(resolve, 50))
      assert.equal(response.headersSent, false)
      stream.begin({ 'x-model': 'm' })
      begun = [...begun, stream.begun]
      await stream.send(['data: 1\n\n'])
      await new Promise((resolve) => setTimeout(resolve, 70))
      await stream.send(['data: 2\n\n'])
      stream.end()
    })
    const chunks: string[] = []
    caller.socket.on('data', (chunk) => chunks.push(chunk.toString()))
    await caller.done
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.deepEqual(begun, [false, true])
    assert.match(chunks[0] ?? '', /^HTTP\/1.1 200 [^]*x-model: m\r\n[^]*text\/event-stream[^]*data: 1\n\n/)
    const rest = chunks.slice(1)
    assert.ok(rest.filter((chunk) => chunk.includes(': ping\n\n')).length >= 2)
    assert.match(rest.at(-1) ?? '', /data: 2\n\n/)
    assert.equal(chunks.join('').split('data: ').length, 3)
  })

  it('sends events that are there together by one write, whole and in order, and none before they are there', async () => {
    await using caller = await connect(async (response) => {
      const stream = createEventStream(response, { ping: 1000, patience: 1000 })
      stream.begin({})
      await stream.send([])
      await stream.send(['data: 1\n\n', 'data: 2\n\n'])
      await new Promise((resolve) => setTimeout(resolve, 50))
      await stream.send(['data: 3\n\n'])
      stream.end()
    })
    const chunks: string[] = []
    caller.socket.on('data', (chunk) => chunks.push(chunk.toString()))
    await caller.done
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.match(chunks[0] ?? '', /\r\n12\r\ndata: 1\n\ndata: 2\n\n\r\n$/)
    assert.match(chunks[1] ?? '', /^9\r\ndata: 3\n\n\r\n/)
  })

  it('waits for a caller who reads slowly, and keeps little for him', async () => {
    let most = 0
    await using caller = await connect(async (response) => {
      const stream = createEventStream(response, { ping: 1000, patience: 5000 })
      stream.begin({})
      for (let sent = 0; sent < 400; sent++) {
        await stream.send([`data: ${'x'.repeat(50_000)}\n\n`])
        most = Math.max(most, response.writableLength)
      }
      stream.end()
    })
    caller.socket.pause()
    await new Promise((resolve) => setTimeout(resolve, 100))
    const read = { bytes: 0 }
    caller.socket.on('data', (chunk) => (read.bytes += chunk.length))
    caller.socket.resume()
    await caller.done
    assert.ok(most < 300_000, `${most} bytes were kept`)
    while (read.bytes < 20_000_000) await once(caller.socket, 'data')
  })

  it('cuts off a caller who does not read for too long, and does nothing more for him', async () => {
    await using caller = await connect(async (response) => {
      const stream = createEventStream(response, { ping: 10, patience: 100 })
      stream.begin({})
      const start = performance.now()
      while (!response.destroyed) await stream.send([`data: ${'x'.repeat(100_000)}\n\n`])
      assert.ok(performance.now() - start >= 100)
      for (let more = 0; more < 1000; more++) await stream.send(['data: x\n\n'])
      stream.end()
    })
    caller.socket.pause()
    caller.socket.on('error', () => undefined)
    await caller.done
  })
})
