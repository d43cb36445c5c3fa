import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import net from 'node:net'
import { describe, it } from 'node:test'
import { settle, stopClock } from '../../../tests/support/clock.ts'
import { until } from '../../../tests/support/until.ts'
import { serve as serveHttp } from '../../../tests/support/server.ts'
import { createEventStream } from './event-stream.ts'

/** Serves one request. Returns the caller's bare connection, which reads only on demand. */
async function connect(serve: (response: ServerResponse) => Promise<void>) {
  const done = Promise.withResolvers<void>()
  const server = await serveHttp((_request, response) => {
    serve(response).then(done.resolve, done.reject)
  })
  const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  return {
    socket,
    done: done.promise,
    async [Symbol.asyncDispose]() {
      socket.destroy()
      await server.close()
    },
  }
}

describe('a stream of events', () => {
  it('sends nothing before it begins, each event in one write, and pings during pauses', async (t) => {
    const clock = stopClock(t)
    const steps = createSteps()
    let begun: readonly boolean[] = []
    await using caller = await connect(async (response) => {
      const stream = createEventStream(response, { ping: 20, patience: 1000 })
      begun = [stream.begun]
      clock.advance(50)
      assert.equal(response.headersSent, false)
      stream.begin({ 'x-model': 'm' })
      begun = [...begun, stream.begun]
      await stream.send(['data: 1\n\n'])
      await steps.next()
      await stream.send(['data: 2\n\n'])
      await steps.next()
      await stream.end()
    })
    const chunks = chunksOf(caller.socket)
    await until(() => chunks.length === 1)
    for (const pings of [1, 2]) {
      clock.advance(19)
      await settle()
      assert.equal(chunks.length, pings)
      clock.advance(1)
      await until(() => chunks.length === 1 + pings)
    }
    steps.go()
    await until(() => chunks.length === 4)
    steps.go()
    await caller.done
    assert.deepEqual(begun, [false, true])
    assert.match(chunks[0] ?? '', /^HTTP\/1.1 200 [^]*x-model: m\r\n[^]*text\/event-stream[^]*data: 1\n\n\r\n$/)
    assert.deepEqual(chunks.slice(1, 4), ['8\r\n: ping\n\n\r\n', '8\r\n: ping\n\n\r\n', '9\r\ndata: 2\n\n\r\n'])
  })

  it('sends available events in one write, complete and in order', async () => {
    const steps = createSteps()
    await using caller = await connect(async (response) => {
      const stream = createEventStream(response, { ping: 60_000, patience: 60_000 })
      stream.begin({})
      await stream.send([])
      await stream.send(['data: 1\n\n', 'data: 2\n\n'])
      await steps.next()
      await stream.send(['data: 3\n\n'])
      await steps.next()
      await stream.end()
    })
    const chunks = chunksOf(caller.socket)
    await until(() => chunks.length === 1)
    assert.match(chunks[0] ?? '', /\r\n12\r\ndata: 1\n\ndata: 2\n\n\r\n$/)
    steps.go()
    await until(() => chunks.length === 2)
    assert.equal(chunks[1], '9\r\ndata: 3\n\n\r\n')
    steps.go()
    await caller.done
  })

  it('sends its first events with the next ones, and its last ones with the end', async () => {
    const steps = createSteps()
    await using caller = await connect(async (response) => {
      const stream = createEventStream(response, { ping: 60_000, patience: 60_000 })
      stream.begin({}, ['data: 1\n\n'])
      await stream.send([])
      await steps.next()
      assert.equal(response.socket?.bytesWritten, 0)
      await stream.send(['data: 2\n\n'])
      await steps.next()
      await stream.end(['data: 3\n\n', 'data: 4\n\n'])
    })
    const chunks = chunksOf(caller.socket)
    await settle()
    steps.go()
    await until(() => chunks.length === 1)
    assert.match(chunks[0] ?? '', /\r\n12\r\ndata: 1\n\ndata: 2\n\n\r\n$/)
    steps.go()
    await until(() => chunks.length === 2)
    await caller.done
    assert.deepEqual(chunks.slice(1), ['12\r\ndata: 3\n\ndata: 4\n\n\r\n0\r\n\r\n'])
  })

  it('sends its first events even if none follow, and nothing after its end', async () => {
    await using caller = await connect(async (response) => {
      const stream = createEventStream(response, { ping: 60_000, patience: 60_000 })
      stream.begin({}, ['data: 1\n\n'])
      await stream.end()
      await stream.end(['data: 2\n\n'])
    })
    const chunks = chunksOf(caller.socket)
    await caller.done
    await until(() => chunks.join('').endsWith('\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n'))
  })

  it('waits for a slow caller and buffers little', async () => {
    let most = 0
    let isFull = false
    await using caller = await connect(async (response) => {
      const stream = createEventStream(response, { ping: 60_000, patience: 60_000 })
      stream.begin({})
      for (let sent = 0; sent < 400; sent++) {
        const sending = stream.send([`data: ${'x'.repeat(50_000)}\n\n`])
        isFull = response.writableNeedDrain
        await sending
        most = Math.max(most, response.writableLength)
      }
      await stream.end()
    })
    caller.socket.pause()
    await until(() => isFull)
    await settle()
    const read = { bytes: 0 }
    caller.socket.on('data', (chunk) => (read.bytes += chunk.length))
    caller.socket.resume()
    await caller.done
    assert.ok(most < 300_000, `${most} bytes were buffered`)
    await until(() => read.bytes >= 20_000_000)
  })

  it('disconnects a caller who does not read the end', async (t) => {
    const clock = stopClock(t)
    const responses: ServerResponse[] = []
    await using caller = await connect(async (response) => {
      responses.push(response)
      const stream = createEventStream(response, { ping: 60_000, patience: 100 })
      stream.begin({})
      await stream.end([`data: ${'x'.repeat(50_000_000)}\n\n`])
    })
    caller.socket.pause()
    caller.socket.on('error', () => undefined)
    await until(() => responses[0]?.writableEnded === true)
    clock.advance(99)
    await settle()
    assert.equal(responses[0]?.destroyed, false)
    clock.advance(1)
    await caller.done
    assert.equal(responses[0]?.destroyed, true)
  })

  it('disconnects a caller who does not read for too long, and then does nothing', async (t) => {
    const clock = stopClock(t)
    const responses: ServerResponse[] = []
    await using caller = await connect(async (response) => {
      responses.push(response)
      const stream = createEventStream(response, { ping: 10, patience: 100 })
      stream.begin({})
      while (!response.destroyed) await stream.send([`data: ${'x'.repeat(100_000)}\n\n`])
      for (let more = 0; more < 1000; more++) await stream.send(['data: x\n\n'])
      await stream.end(['data: x\n\n'])
    })
    caller.socket.pause()
    caller.socket.on('error', () => undefined)
    // The connection's buffers fill at once; after that nothing is accepted.
    let written = -1
    await until(async () => {
      await settle()
      const before = written
      written = responses[0]?.socket?.bytesWritten ?? -1
      return written === before && responses[0]?.writableNeedDrain === true
    })
    clock.advance(99)
    await settle()
    assert.equal(responses[0]?.destroyed, false)
    clock.advance(1)
    await caller.done
  })
})

/** Steps of the server that wait for the test. */
function createSteps() {
  let waiting = Promise.withResolvers<void>()
  return {
    next: () => waiting.promise,
    go() {
      const { resolve } = waiting
      waiting = Promise.withResolvers()
      resolve()
    },
  }
}

function chunksOf(socket: net.Socket): string[] {
  const chunks: string[] = []
  socket.on('data', (chunk) => chunks.push(chunk.toString()))
  return chunks
}
