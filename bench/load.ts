import { connect, type Socket } from 'node:net'
import { readResponse } from './http-response.ts'

/** A load: each connection sends its next request as soon as it has the response to the last one. */
export interface Load {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** API keys, used in turn, each as `Authorization: Bearer`. */
  readonly keys: readonly string[]
  readonly body: string
  /** Every response must have status 200 and exactly this body. */
  readonly expected: string
  /** Instead: every body must contain `expected`, because replies have ids of their own. Default false. */
  readonly differs?: boolean
  readonly connections: number
  readonly seconds: number
}

/** The result of a load. `responses` + `cut` is the number of requests sent. */
export interface LoadResult {
  /** All responses, wrong ones included. */
  readonly responses: number
  readonly wrong: number
  /** Connections that ended before the response. */
  readonly cut: number
  /** The first response that was not the expected one. */
  readonly firstWrong: string | undefined
  /** Responses per second; late ones do not count. */
  readonly perSecond: number
  /** ms from the request to the whole response. */
  readonly latency: { readonly p50: number; readonly p95: number; readonly p99: number }
}

/** A request in its wire format, and the body of the response to it. */
export interface ExpectedExchange {
  readonly request: Buffer
  readonly expected: Buffer
  /** Whether the body only contains it. */
  readonly differs?: boolean
}

const isExpected = (body: Buffer, { expected, differs = false }: ExpectedExchange): boolean =>
  differs ? body.includes(expected) : body.equals(expected)

/** Runs a load. After that time it sends no further request and waits for the responses in flight. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const expected = Buffer.from(load.expected)
  return runExchanges(
    load.keys.map((key) => ({ request: formatRequest(load, key), expected, differs: load.differs === true })),
    load,
  )
}

/** Like `runLoad`, with any requests, sent in turn. */
export async function runExchanges(
  exchanges: readonly ExpectedExchange[],
  load: Pick<Load, 'port' | 'connections' | 'seconds'>,
): Promise<LoadResult> {
  const latencies: number[] = []
  const end = performance.now() + load.seconds * 1000
  let [sent, inTime, wrong, cut] = [0, 0, 0, 0]
  let firstWrong: string | undefined

  const runConnection = (socket: Socket, done: () => void): void => {
    let waiting = false
    let sentAt = 0
    let rest: Buffer | undefined
    let due: ExpectedExchange | undefined
    const send = (now: number): void => {
      waiting = now < end
      sentAt = now
      due = exchanges[sent++ % exchanges.length]
      if (waiting && due) socket.write(due.request)
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
      latencies.push(now - sentAt)
      if (now <= end) inTime++
      if (response.status !== 200 || due === undefined || !isExpected(response.body, due)) {
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
  const open = (): Promise<void> => new Promise((done) => runConnection(connect(load.port, '127.0.0.1'), done))
  await Promise.all(Array.from({ length: load.connections }, open))

  latencies.sort((a, b) => a - b)
  const quantile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN
  return {
    responses: latencies.length,
    wrong,
    cut,
    firstWrong,
    perSecond: inTime / load.seconds,
    latency: { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99) },
  }
}

/** The request in its wire format. */
export function formatRequest(
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
