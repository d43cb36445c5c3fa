import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { settle } from '../../../../tests/support/clock.ts'
import { assertRefusal, exchange, post, startServer } from '../../../../tests/support/echo-server.ts'
import { fixture, setUp } from '../../../../tests/support/fixture.ts'
import { until } from '../../../../tests/support/until.ts'
import { openWire, type Wire, type WireAnswer } from '../../../../tests/support/wire.ts'

/** Each body counts half: its first 64 KiB do not. The server takes 16 whole ones, so 32 fill it. */
const requestBytes = 128 * 1024
const room = 32

const long = post(JSON.stringify({ text: 'x'.repeat(requestBytes - 11) }))
const short = post('{"text":"a"}')
const chunkedHead =
  'POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
const chunkOf = (bytes: number): string => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`

describe('long bodies', () => {
  const sockets = new Set<Socket>()
  const started = fixture(() => startServer({ requestBytes }))
  setUp(() => {
    started.server.server.on('connection', (socket) => sockets.add(socket))
  })
  after(() => started.server.close())

  const send = (): Promise<WireAnswer> => exchange(started.port, long)

  /** Fills the server with bodies that lack their last byte. */
  async function fill(): Promise<readonly Wire[]> {
    const others = sockets.size
    const wires = await Promise.all(Array.from({ length: room }, () => openWire(started.port)))
    for (const wire of wires) wire.send(long.slice(0, -1))
    await until(() => sockets.size === others + room)
    const filling = [...sockets].slice(others)
    await until(() => filling.every(({ bytesRead }) => bytesRead === long.length - 1))
    await settle()
    return wires
  }
  const isFree = () => until(async () => (await send()).status === 200)

  it('are refused while others fill the server, and short ones are served', async () => {
    const wires = await fill()
    const wire = await openWire(started.port)
    wire.send(long)
    const refused = await wire.answer()
    assertRefusal(refused, 'overloaded')
    assert.deepEqual([refused.headers['retry-after'], refused.headers['x-should-retry']], ['2', 'true'])
    wire.send(chunkedHead + chunkOf(requestBytes - 10))
    assertRefusal(await wire.answer(), 'overloaded')
    // What still arrives of it is discarded.
    wire.send(`${chunkOf(requestBytes).repeat(8)}0\r\n\r\n${short.toString()}`)
    assert.equal((await wire.answer()).status, 200)
    wire.cut()
    const [first, ...others] = wires
    first?.send('}')
    assert.equal((await first?.answer())?.status, 200)
    await isFree()
    for (const each of others) each.send('}')
    for (const each of others) assert.equal((await each.answer()).status, 200)
    for (const each of wires) each.cut()
  })

  it('no longer count once their callers have gone', async () => {
    for (let round = 0; round < 2; round++) {
      for (const each of await fill()) each.cut()
      await isFree()
    }
  })

  it('no longer count once they were served or refused', async () => {
    for (let count = 0; count < 2 * room; count++) {
      assert.equal((await send()).status, 200)
      const wire = await openWire(started.port)
      wire.send(chunkedHead + chunkOf(requestBytes))
      wire.send(chunkOf(requestBytes))
      assertRefusal(await wire.answer(), 'request_too_large')
      wire.send(chunkOf(requestBytes))
      wire.cut()
    }
    assert.equal((await send()).status, 200)
  })
})
