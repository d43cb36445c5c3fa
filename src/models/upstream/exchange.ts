import type { Dispatcher } from 'undici'
// This file of it and no more: with the rest, its fetch and caches, come 6 MB that no request here needs.
import Pool from 'undici/lib/dispatcher/pool.js'
import { connectionLost, tooLate, unusable } from './failure.ts'
import type { Member } from './pool.ts'
import { givenUp, Reception, retryAfterOf, type ReceptionBounds } from './reception.ts'

export interface EndpointOptions {
  /** Address up to and including the version: http://127.0.0.1:9101/v1 */
  readonly url: string
  readonly key?: string | undefined
  readonly weight?: number | undefined
}

/** What one exchange may take. */
export type Bounds = Omit<ReceptionBounds, 'first'>

/** What came back, whole. */
export interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: Buffer
}

/** One address of an upstream, with the connections that are kept to it. It is full when every connection is in use. */
export interface Endpoint extends Member {
  /**
   * Sends one request and waits for its whole answer, `undefined` if `signal` aborted first; the connection is then cut.
   * Throws Failure: repeatable as long as no answer has begun.
   */
  post(body: string, bounds: Bounds): Promise<Answer | undefined>
  /** Sends one request and waits until its answer begins, else as `post`. `first` bounds the time until it says `begun`. */
  open(body: string, bounds: ReceptionBounds): Promise<Reception | undefined>
  close(): Promise<void>
}

/** `connect` is milliseconds; `connections` is the most requests at a time. */
export function createEndpoint(
  path: string,
  { url, key, weight = 1 }: EndpointOptions,
  limits: { readonly connections: number; readonly connect: number },
): Endpoint {
  const address = new URL(url)
  const pool = new Pool(address.origin, {
    connections: limits.connections,
    pipelining: 1,
    allowH2: false,
    connectTimeout: limits.connect,
    // The timers are ours, over the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const request: Dispatcher.DispatchOptions = {
    method: 'POST',
    path: address.pathname.replace(/\/+$/, '') + path + address.search,
    headers: ['content-type', 'application/json', ...(key ? ['authorization', `Bearer ${key}`] : [])],
  }
  let running = 0

  return Object.freeze({
    name: address.origin,
    weight,
    full: () => running >= limits.connections,
    post(body: string, bounds: Bounds) {
      running++
      return exchange(pool, { ...request, body }, bounds, () => running--)
    },
    async open(body: string, bounds: ReceptionBounds) {
      running++
      const reception = new Reception(bounds, () => running--)
      pool.dispatch({ ...request, body }, reception)
      return (await reception.opened) ? reception : undefined
    },
    close: () => pool.close(),
  })
}

// On the path of every request: undici's lowest level, which makes no stream of the answer.
function exchange(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  { total, mostBytes, signal }: Bounds,
  ended: () => void,
): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let over = false
    let status = 0
    let retryAfter: string | undefined
    let size = 0
    const chunks: Buffer[] = []

    const finish = (): void => {
      if (!over) ended()
      over = true
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
    const leave = (): void => {
      finish()
      resolve(undefined)
      controller?.abort(givenUp)
    }
    const timer = setTimeout(() => {
      finish()
      reject(tooLate(false))
      controller?.abort(givenUp)
    }, total)
    signal.addEventListener('abort', leave)

    pool.dispatch(request, {
      onRequestStart(started) {
        // Given up while it waited for a connection.
        if (over) started.abort(givenUp)
        controller = started
      },
      onResponseStart(_, statusCode, headers) {
        status = statusCode
        retryAfter = retryAfterOf(headers)
      },
      onResponseData(_, chunk) {
        chunks.push(chunk)
        size += chunk.length
        if (size <= mostBytes || over) return
        finish()
        reject(unusable('more bytes than any reply has'))
        controller?.abort(givenUp)
      },
      onResponseEnd() {
        finish()
        resolve({ status, retryAfter, body: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) })
      },
      onResponseError(_, cause) {
        finish()
        // Half an answer was generated, and is lost; half a refusal was not.
        reject(connectionLost(cause, status !== 200))
      },
    })
  })
}
