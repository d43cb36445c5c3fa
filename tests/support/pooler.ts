import net, { type Socket } from 'node:net'
import { listen } from './server.ts'

/** A stand-in for a pooler in transaction mode: each transaction gets whichever connection to PostgreSQL was used last. */
export async function openPooler(databaseUrl: string): Promise<{ readonly url: string; close(): void }> {
  const target = new URL(databaseUrl)
  const port = Number(target.port)
  const free: Backend[] = []
  const sockets = new Set<Socket>()
  const server = net.createServer((client) => {
    const backend = openBackend(port, free)
    for (const socket of [client, backend.socket]) sockets.add(socket.on('error', () => undefined))
    // Startup and authentication are those of PostgreSQL.
    backend.client = client
    let current: Backend | undefined = backend
    client.on('data', (data: Buffer) => {
      // Terminate ends the connection to the pooler, and gives up a transaction that it has begun.
      if (data[0] === terminate) {
        client.end()
        if (current?.client === client) current.socket.destroy()
        return
      }
      if (current?.client !== client) {
        current = free.pop()
        if (current !== undefined) current.client = client
      }
      current?.socket.write(data)
    })
  })
  target.port = String(await listen(server))
  target.hostname = '127.0.0.1'
  return {
    url: target.href,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

const terminate = 'X'.codePointAt(0)

interface Backend {
  readonly socket: Socket
  /** Whose transaction it has. */
  client: Socket | undefined
}

function openBackend(port: number, free: Backend[]): Backend {
  const socket = net.connect(port, '127.0.0.1')
  const backend: Backend = { socket, client: undefined }
  let isNew = true
  let received = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => {
    received = Buffer.concat([received, data])
    while (received.length >= 5 && received.length > received.readUInt32BE(1)) {
      const message = Buffer.from(received.subarray(0, received.readUInt32BE(1) + 1))
      received = received.subarray(message.length)
      const type = String.fromCodePoint(message[0] ?? 0)
      // BackendKeyData: a pooler makes up the id of the process.
      if (type === 'K') message.writeInt32BE(-1, 5)
      backend.client?.write(message)
      // ReadyForQuery, outside a transaction.
      if (type === 'Z' && message[5] === 'I'.codePointAt(0)) {
        backend.client = undefined
        // The one that was used last is used next. A pooler opens none for a connection that has not sent a statement yet.
        if (isNew) free.unshift(backend)
        else free.push(backend)
        isNew = false
      }
    }
  })
  return backend
}
