import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import { assertRefusal, get, post, startServer } from '../../../tests/support/echo-server.ts'
import { realNow, settle, stopClock } from '../../../tests/support/clock.ts'
import { until } from '../../../tests/support/until.ts'
import { openWire } from '../../../tests/support/wire.ts'

describe('a connection', () => {
  let started: Awaited<ReturnType<typeof startServer>>
  before(async () => {
    started = await startServer()
  })
  after(() => started.server.close())

  it('never sends the error of a later request as the response to an earlier one', async () => {
    const wire = await openWire(started.port)
    wire.send(`${get('/v1/slow/1')}RUBBISH\r\n\r\n`)
    await assert.rejects(wire.answer(), /ended with "" unanswered/)
    const other = await openWire(started.port)
    other.send(`${get('/v1/slow/1')}CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n`)
    await assert.rejects(other.answer(), /ended with "" unanswered/)
  })

  it('responds to pipelined requests in order', async () => {
    const wire = await openWire(started.port)
    wire.send(Buffer.concat([Buffer.from(get('/v1/slow/1')), post('{"text":"second"}'), post('{"text":3}')]))
    assert.equal((await wire.answer()).body, '{"aborted":false}')
    assert.match((await wire.answer()).body, /second/)
    assertRefusal(await wire.answer(), 'invalid_field')
    wire.cut()
  })

  it('detects that a caller has disconnected, and logs 499', async () => {
    const wire = await openWire(started.port)
    started.served.length = 0
    const release = started.hold()
    wire.send(get('/v1/slow/9'))
    await until(() => started.served.includes('slow'))
    wire.cut()
    await until(() => started.ends.at(-1)?.status === 499)
    assert.deepEqual(started.served, ['slow', 'gone'])
    release()
  })

  it('also detects a caller that disconnected earlier', async () => {
    started.served.length = 0
    for (const leaves of [true, false]) {
      const wire = await openWire(started.port)
      const release = started.hold()
      const ended = started.ends.length
      wire.send(get('/v1/late'))
      await until(() => started.served.at(-1) === 'late')
      if (leaves) wire.cut()
      await until(() => !leaves || started.ends.length > ended)
      release()
      await until(() => started.served.at(-1) !== 'late')
      wire.cut()
    }
    assert.deepEqual(started.served, ['late', 'gone', 'late', 'there'])
  })
})

describe('a slow caller', () => {
  it('gets request_timeout, for headers and for a body, and the connection ends', async () => {
    const { server, port, served } = await startServer({ timeouts: { headers: 100, request: 200, checkEvery: 20 } })
    for (const beginning of ['POST /v1/echo HTTP/1.1\r\nhost: x\r\n', post('{"text":"a"}').subarray(0, -3)]) {
      const wire = await openWire(port)
      wire.send(beginning)
      assertRefusal(await wire.answer(), 'request_timeout')
      await wire.closed
    }
    assert.deepEqual(served, [])
    await server.close()
  })
})

describe('a server that closes', () => {
  it('lets requests in flight finish, refuses new ones, and serves /healthz', async () => {
    const { server, port, served, hold } = await startServer({ idleGrace: 1000 })
    const release = hold()
    const busy = await openWire(port)
    const other = await openWire(port)
    busy.send(get('/v1/slow/1'))
    await until(() => served.includes('slow'))
    const closing = server.close()
    await settle()

    const fresh = await openWire(port)
    fresh.send(get('/healthz'))
    assert.equal((await fresh.answer()).status, 200)
    other.send(post('{"text":"a"}'))
    const refused = await other.answer()
    assertRefusal(refused, 'unavailable')
    assert.equal(refused.headers['retry-after'], '1')
    assert.equal(refused.headers['connection'], 'close')
    await other.closed

    release()
    const answer = await busy.answer()
    assert.equal(answer.body, '{"aborted":false}')
    assert.equal(answer.headers['connection'], 'close')
    await busy.closed
    await closing
    await assert.rejects(openRefused(port))
  })

  it('reads the body of a refused request, and responds before the connection ends', async () => {
    const { server, port, served, hold } = await startServer({ idleGrace: 60_000 })
    const release = hold()
    const [busy, slow] = [await openWire(port), await openWire(port)]
    busy.send(get('/v1/slow/1'))
    await until(() => served.includes('slow'))
    const closing = server.close()
    await settle()
    const [head, body] = post('{"text":"a"}').toString().split('\r\n\r\n')
    let isAnswered = false
    const refused = slow.answer().finally(() => (isAnswered = true))
    slow.send(`${head}\r\n\r\n`)
    await settle()
    assert.equal(isAnswered, false, 'a response came before the body')
    slow.send(String(body))
    assertRefusal(await refused, 'unavailable')
    release()
    await busy.closed
    await closing
  })

  it('keeps idle and unused connections only for the grace period', async (t) => {
    const { server, port } = await startServer({ idleGrace: 50 })
    const [silent, idle] = [await openWire(port), await openWire(port)]
    idle.send(get('/healthz'))
    await idle.answer()
    const clock = stopClock(t)
    let closed = 0
    for (const wire of [silent, idle]) void wire.closed.then(() => (closed += 1))
    const closing = server.close()
    clock.advance(49)
    await settle()
    assert.equal(closed, 0)
    clock.advance(51)
    await Promise.all([closing, silent.closed, idle.closed])
  })

  it('refuses requests that do not finish in time, or are not complete', async () => {
    const { server, port, served, hold } = await startServer({ drainTime: 50 })
    const release = hold()
    const [wire, partial] = [await openWire(port), await openWire(port)]
    wire.send(get('/v1/slow/1'))
    partial.send('GET /healthz HTTP/1.1\r\n')
    await until(() => served.includes('slow'))
    await server.close()
    for (const each of [wire, partial]) {
      const refused = await each.answer()
      assertRefusal(refused, 'unavailable')
      assert.equal(refused.headers['connection'], 'close')
      await each.closed
    }
    await until(() => served.includes('gone'))
    assert.deepEqual(served, ['slow', 'gone'])
    release()
  })
})

describe('A47 a process that was not scheduled', () => {
  type Started = Awaited<ReturnType<typeof startServer>>
  interface Pause {
    /** What was read of each request before. */
    readonly sent: string
    begin?(this: void, started: Started): void
    /** Ends the time that the server waits. */
    pass(this: void, started: Started, sockets: readonly Socket[], t: TestContext): void
  }
  const pauses: Readonly<Record<string, Pause>> = {
    'until it closes': {
      sent: '',
      begin: ({ server }) => void server.close(),
      pass: (_, __, t) => void t.mock.method(performance, 'now', () => realNow() + 15_000),
    },
    'until an idle connection is closed': {
      sent: '',
      pass: (_, sockets) => sockets.forEach((socket) => socket.setTimeout(1)),
    },
    'until the time of a request is over': {
      sent: 'GET /healthz HTTP/1.1\r\n',
      pass: ({ server }) => Object.assign(server.server, { headersTimeout: 1, requestTimeout: 1 }),
    },
  }

  for (const [name, { sent, begin, pass }] of Object.entries(pauses)) {
    it(`responds to what arrived ${name}`, async (t) => {
      const started = await startServer({ idleGrace: 10_000, timeouts: { checkEvery: 20 } })
      const { server, port } = started
      t.after(() => server.close())
      const sockets: Socket[] = []
      server.server.on('connection', (socket) => sockets.push(socket))
      const wires = await Promise.all(Array.from({ length: 20 }, () => openWire(port)))
      for (const wire of wires) wire.send(get('/healthz'))
      await Promise.all(wires.map((wire) => wire.answer()))
      for (const wire of wires) wire.send(sent)
      begin?.(started)
      await settle()
      for (const wire of wires) wire.send(get('/healthz').slice(sent.length))
      pass(started, sockets, t)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
      for (const wire of wires) {
        assert.equal((await wire.answer()).status, 200)
        wire.cut()
      }
    })
  }
})

async function openRefused(port: number): Promise<void> {
  await fetch(`http://127.0.0.1:${port}/healthz`)
}
