import { connect, type Socket } from 'node:net'
import { readResponse } from './http-response.ts'

/** A load: every connection sends its next request when it has the answer to the last one. */
export interface Load {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent in turn, each as `Authorization: Bearer`. */
  readonly keys: readonly string[]
  readonly body: string
  /** The body that every answer must have, to the byte, with status 200. */
  readonly expected: string
  readonly connections: number
  readonly seconds: number
}

/** What came of it. Every request that was sent is in `answers`, `wrong` among them, or in `cut`. */
export interface Outcome {
  readonly answers: number
  readonly wrong: number
  /** Connections that ended without the answer. */
  readonly cut: number
  /** The first answer that was not the expected one. */
  readonly firstWrong: string | undefined
  /** Answers within the time, by the second. */
  readonly perSecond: number
  /** Milliseconds. */
  readonly latency: { readonly p50: number; readonly p95: number; readonly p99: number }
}

/** A request as it is sent, and the body of its answer. */
export interface Exchange {
  readonly request: Buffer
  readonly expected: Buffer
}

/** Runs a load to its end: after the time nothing more is sent, and every answer is waited for. */
export async function runLoad(load: Load): Promise<Outcome> {
  const expected = Buffer.from(load.expected)
  return exchange(
    load.keys.map((key) => ({ request: requestOf(load, key), expected })),
    load,
  )
}

/** The same with requests of any kind, which are sent in turn. */
export async function exchange(
  requests: readonly Exchange[],
  load: Pick<Load, 'port' | 'connections' | 'seconds'>,
): Promise<Outcome> {
  const latencies: number[] = []
  const started = performance.now()
  const end = started + load.seconds * 1000
  let [sent, inTime, wrong, cut] = [0, 0, 0, 0]
  let firstWrong: string | undefined

  const converse = (socket: Socket, done: () => void): void => {
    let waiting = false
    let since = 0
    let rest: Buffer | undefined
    let expected: Buffer | undefined
    const send = (now: number): void => {
      waiting = now < end
      since = now
      const next = requests[sent++ % requests.length]
      expected = next?.expected
      if (waiting && next) socket.write(next.request)
      else socket.end()
    }
    socket.setNoDelay(true)
    socket.on('connect', () => send(performance.now()))
    socket.on('data', (data: Buffer) => {
      const received = rest ? Buffer.concat([rest, data]) : data
      const response = readResponse(received)
      rest = response ? undefined : received
      if (!response) return
      const now = performance.now()
      latencies.push(now - since)
      if (now <= end) inTime++
      if (response.status !== 200 || expected === undefined || !response.body.equals(expected)) {
        wrong++
        firstWrong ??= `${response.status} ${response.body.toString('utf8', 0, 500)}`
      }
      send(now)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      cut += waiting ? 1 : 0
      done()
    })
  }
  const open = (): Promise<void> => new Promise((done) => converse(connect(load.port, '127.0.0.1'), done))
  await Promise.all(Array.from({ length: load.connections }, open))

  latencies.sort((a, b) => a - b)
  const quantile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  return {
    answers: latencies.length,
    wrong,
    cut,
    firstWrong,
    perSecond: inTime / load.seconds,
    latency: { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99) },
  }
}

/** A request as it is sent. */
export function requestOf(
  { path, headers, body, port }: Pick<Load, 'path' | 'headers' | 'body' | 'port'>,
  key: string,
): Buffer {
  const all = {
    host: `127.0.0.1:${port}`,
    'content-type': 'application/json',
    'content-length': `${Buffer.byteLength(body)}`,
    authorization: `Bearer ${key}`,
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
}
