import type { Dispatcher } from 'undici'
// Imports only the pool: the rest of undici (fetch, caches) would take 6 MB of memory that no request here needs.
import Pool from 'undici/lib/dispatcher/pool.js'
import { connectionLost, unusable, type Failure } from '../failure.ts'
import type { Member } from './pool.ts'
import { abandoned, isCoded, Reception, retryAfterOf, type ReceptionBounds } from './reception.ts'
import { ResponseTimer } from './deadline.ts'

export interface EndpointOptions {
  /** Address up to and including the version: http://127.0.0.1:9101/v1 */
  readonly url: string
  readonly key?: string | undefined
  readonly weight?: number | undefined
  /** Names and values, alternating. They replace the Authorization header that `key` sets. */
  readonly headers?: readonly string[]
}

/** A complete response. */
export interface UpstreamAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: Buffer
}

/** One address of an upstream and its connections. It is full when every connection is in use. */
export interface Endpoint extends Member {
  /**
   * Sends one request and waits for the whole response. Resolves with undefined and closes the connection if `signal`
   * aborts first. Throws Failure, which is repeatable unless a response has begun.
   */
  post(body: string, bounds: ReceptionBounds): Promise<UpstreamAnswer | undefined>
  /** Like `post`, but with GET and no body. */
  get(bounds: ReceptionBounds): Promise<UpstreamAnswer | undefined>
  /** Like `post`, but returns at once, with what will be received. */
  open(body: string, bounds: ReceptionBounds): Reception
  close(): Promise<void>
}

const encoder = new TextEncoder()

/** `connect` is a timeout in milliseconds; `connections` is the most requests in flight. */
export function createEndpoint(
  path: string,
  { url, key, weight = 1, headers = key ? ['authorization', `Bearer ${key}`] : [] }: EndpointOptions,
  limits: { readonly connections: number; readonly connect: number },
): Endpoint {
  const address = new URL(url)
  const pool = new Pool(address.origin, {
    connections: limits.connections,
    pipelining: 1,
    allowH2: false,
    connectTimeout: limits.connect,
    // Our own timers cover the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const request: Dispatcher.DispatchOptions = {
    method: 'POST',
    path: address.pathname.replace(/\/+$/, '') + path + address.search,
    headers: ['content-type', 'application/json', ...uncoded, ...headers],
  }
  let running = 0

  return Object.freeze<Endpoint>({
    name: address.origin,
    weight,
    full: () => running >= limits.connections,
    post(body, bounds) {
      running++
      const receiver = new AnswerReceiver(bounds, () => running--)
      pool.dispatch({ ...request, body }, receiver)
      return receiver.answer
    },
    get(bounds) {
      running++
      const receiver = new AnswerReceiver(bounds, () => running--)
      pool.dispatch({ ...request, method: 'GET', headers: [...uncoded, ...headers] }, receiver)
      return receiver.answer
    },
    open(body, bounds) {
      running++
      const reception = new Reception(bounds, () => running--)
      // Undici keeps the body until the response ends. Of a string, it would keep a slice of a Buffer pool of 64 kB.
      pool.dispatch({ ...request, body: encoder.encode(body) }, reception)
      return reception
    },
    close: () => pool.close(),
  })
}

/** RFC 9110 section 12.5.3: without this header, an upstream may choose any coding. */
const uncoded = ['accept-encoding', 'identity'] as const

/**
 * Collects one response. It runs on every request, so it uses undici's lowest-level interface, which creates no stream for
 * the response, and one object instead of a closure per callback.
 */
class AnswerReceiver implements Dispatcher.DispatchHandler {
  /** Resolves with undefined if the caller disconnects. Rejects with a Failure. */
  readonly answer: Promise<UpstreamAnswer | undefined>
  readonly #mostBytes: number
  readonly #signal: AbortSignal
  readonly #ended: () => void
  readonly #leave = (): void => {
    this.#finish()
    this.#resolve(undefined)
    this.#controller?.abort(abandoned)
  }
  readonly #timer: ResponseTimer
  #resolve!: (answer: UpstreamAnswer | undefined) => void
  #reject!: (failure: Failure) => void
  #controller: Dispatcher.DispatchController | undefined
  #over = false
  #status = 0
  #retryAfter: string | undefined
  #chunks: Buffer[] = []
  #size = 0

  /** `ended` is called once, when the exchange is over. */
  constructor(bounds: ReceptionBounds, ended: () => void) {
    const { mostBytes, signal } = bounds
    this.#mostBytes = mostBytes
    this.#signal = signal
    this.#ended = ended
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#timer = new ResponseTimer(bounds, (failure) => this.#fail(failure))
    signal.addEventListener('abort', this.#leave)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Abandoned while it waited for a connection.
    if (this.#over) controller.abort(abandoned)
    this.#controller = controller
  }

  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    // Informational responses precede the final response (RFC 9110, section 15.2).
    if (status < 200) return
    this.#timer.begun()
    this.#status = status
    if (status === 200 && isCoded(headers)) return this.#fail(unusable('a content coding that was not accepted'))
    this.#retryAfter = retryAfterOf(headers)
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size > this.#mostBytes && !this.#over) this.#fail(unusable('more bytes than any reply needs'))
  }

  onResponseEnd(): void {
    this.#finish()
    const chunks = this.#chunks
    const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
    this.#resolve({ status: this.#status, retryAfter: this.#retryAfter, body })
  }

  onResponseError(_: unknown, cause: Error): void {
    this.#finish()
    // A partial reply has cost tokens, so it must not be generated again. A partial refusal has not.
    this.#reject(connectionLost(cause, this.#status !== 200))
  }

  #fail(failure: Failure): void {
    this.#finish()
    this.#reject(failure)
    this.#controller?.abort(abandoned)
  }

  #finish(): void {
    if (!this.#over) this.#ended()
    this.#over = true
    this.#timer.stop()
    this.#signal.removeEventListener('abort', this.#leave)
  }
}
