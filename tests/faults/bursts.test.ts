import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createTestDatabase } from '../support/database.ts'
import { freePorts, start } from '../support/start.ts'

/** More than Node lets wait by default. */
const burst = 700

/** Whether the kernel lets as many connections wait for one server. */
function isPossible(): boolean {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) > burst
  } catch {
    return false
  }
}

async function connectTo(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

const skip = isPossible() ? false : 'the kernel lets fewer connections wait'

test('A burst of connections is not turned away while the server has no time to accept them', { skip }, async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tollgate-bursts-'))
  const database = await createTestDatabase()
  const port = await freePorts()
  const service = await start({ DATABASE_URL: database.url, TOLLGATE_DATA: folder, PORT: String(port) })
  t.after(async () => {
    service.signal('SIGCONT')
    await service.end()
    await database.drop()
    await rm(folder, { recursive: true })
  })
  service.signal('SIGSTOP')
  const sockets = await Promise.all(Array.from({ length: burst }, () => connectTo(port)))
  service.signal('SIGCONT')
  const replies = sockets.map((socket) => {
    socket.end('GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    return text(socket)
  })
  const statuses = (await Promise.all(replies)).map((reply) => reply.split('\r\n')[0])
  assert.deepEqual(statuses, Array(burst).fill('HTTP/1.1 200 OK'))
})
