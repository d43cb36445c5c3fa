import net from 'node:net'

/** A response as received. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A bare connection that sends exactly the given bytes. */
export interface Wire {
  send(data: string | Buffer): void
  /** The next complete response. Rejects if the connection ends first, or after a minute. */
  answer(): Promise<WireAnswer>
  /** Waits until the other side has closed. Returns the bytes after the last response. */
  rest(): Promise<string>
  /** Resolves when the other side has closed. */
  readonly closed: Promise<void>
  /** Half-closes the connection, as `shutdown(SHUT_WR)` does. */
  endSending(): void
  /** Destroys the connection. */
  cut(): void
}

/** Connects to a port of 127.0.0.1. */
export async function openWire(port: number): Promise<Wire> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const closed = Promise.withResolvers<void>()
  let received = Buffer.alloc(0)
  let changed = Promise.withResolvers<void>()
  let over = false
  const change = () => {
    changed.resolve()
    changed = Promise.withResolvers<void>()
  }
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    change()
  })
  const end = () => {
    over = true
    closed.resolve()
    change()
  }
  socket.on('end', end)
  socket.on('close', end)
  socket.on('error', end)
  await new Promise<void>((resolve) => socket.once('connect', resolve))

  return {
    send(data) {
      socket.write(data)
    },
    async answer() {
      const late = AbortSignal.timeout(60_000)
      for (;;) {
        const parsed = parseAnswer(received)
        if (parsed) {
          received = received.subarray(parsed.length)
          return parsed.answer
        }
        if (over) throw new Error(`the connection ended with ${JSON.stringify(received.toString())} unanswered`)
        if (late.aborted) throw new Error('no answer in a minute')
        await Promise.race([changed.promise, new Promise((resolve) => setTimeout(resolve, 100))])
      }
    },
    async rest() {
      await closed.promise
      return received.toString()
    },
    closed: closed.promise,
    endSending() {
      socket.end()
    },
    cut() {
      socket.destroy()
    },
  }
}

function parseAnswer(data: Buffer): { answer: WireAnswer; length: number } | undefined {
  const end = data.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = data.subarray(0, end).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const length = end + 4 + Number(headers['content-length'] ?? 0)
  if (data.length < length) return undefined
  const body = data.subarray(end + 4, length).toString()
  return { answer: { status: Number(first.split(' ')[1]), headers, body }, length }
}
