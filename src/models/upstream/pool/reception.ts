import type { Dispatcher } from 'undici'
import { connectionLost, Failure, unusable } from '../failure.ts'
import { ResponseTimer } from './deadline.ts'

/** Bytes that may be buffered for a slow caller before reading from the upstream pauses. */
const mostWaiting = 64 * 1024

/** The most bytes that are read of an error response, in whole chunks. */
const mostRefused = 64 * 1024

/** Milliseconds to wait for the end of the response after its last event, so that the connection can be reused. */
const patience = 1000

/** The reason given to undici for closing a connection. */
export const abandoned = new Error('abandoned')

/** The bounds of one response: milliseconds, bytes, and the caller's signal. */
export interface ReceptionBounds {
  /** Until the first byte of the body. Default: as `total`. */
  readonly first?: number
  readonly total: number
  readonly mostBytes: number
  readonly signal: AbortSignal
}

/** A response that one reader consumes while undici receives it. The reader ends it with `finish` or `abandon`. */
export class Reception implements Dispatcher.DispatchHandler {
  status = 0
  retryAfter: string | undefined
  /** Resolves with true when the response begins, or with false if it was abandoned before. Rejects with a Failure. */
  readonly opened: Promise<boolean>
  readonly #opening = Promise.withResolvers<boolean>()
  readonly #bounds: ReceptionBounds
  readonly #closed: () => void
  readonly #timer: ResponseTimer
  #draining: NodeJS.Timeout | undefined
  #controller: Dispatcher.DispatchController | undefined
  #ending: 'end' | 'abandoned' | Failure | undefined
  #wake: (() => void) | undefined
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #bytes = 0

  /** `closed` is called once, when the connection is free again. */
  constructor(bounds: ReceptionBounds, closed: () => void) {
    this.#bounds = bounds
    this.#closed = closed
    this.opened = this.#opening.promise
    this.#timer = new ResponseTimer(bounds, (failure) => this.#end(failure))
    bounds.signal.addEventListener('abort', this.abandon)
  }

  /** Resolves with the bytes since the last call, `end` after the last byte, or `abandoned`. Throws Failure. */
  async read(): Promise<Buffer | 'end' | 'abandoned'> {
    while (this.#waiting.length === 0 && this.#ending === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    const [first] = this.#waiting
    if (first !== undefined && this.#ending !== 'abandoned') {
      const all = this.#waiting.length === 1 ? first : Buffer.concat(this.#waiting)
      this.#forget()
      return all
    }
    if (this.#ending instanceof Error) throw this.#ending
    return this.#ending ?? 'end'
  }

  /** Stops reading because the reply is complete. The connection is kept if the response ends soon. */
  finish(): void {
    if (this.#ending !== undefined) return
    this.#end('end')
    this.#forget()
    this.#draining = setTimeout(() => this.#controller?.abort(abandoned), patience)
  }

  /** Closes the connection unless the response has ended. */
  readonly abandon = (): void => this.#end('abandoned')

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Abandoned while it waited for a connection.
    if (this.#ending !== undefined) controller.abort(abandoned)
    this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // The raw headers are slices of the bytes read and would keep them in memory for the whole response.
    controller.rawHeaders = null
    // Informational responses precede the final response (RFC 9110, section 15.2).
    if (status < 200) return
    this.status = status
    if (status === 200 && isCoded(headers)) return this.#end(unusable('a content coding that was not accepted'))
    this.retryAfter = retryAfterOf(headers)
    this.#opening.resolve(true)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ending !== undefined) return
    // Any byte is a sign of life: a model may think for long before its first token.
    this.#timer.begun()
    this.#bytes += chunk.length
    if (this.#bytes > this.#bounds.mostBytes) return this.#end(unusable('more bytes than any reply needs'))
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes > mostWaiting) controller.pause()
    this.#wake?.()
  }

  onResponseEnd(): void {
    this.#end('end')
    this.#close()
  }

  onResponseError(_: unknown, cause: Error): void {
    this.#end(connectionLost(cause, true))
    this.#close()
  }

  /** The first call decides how the response ended. Later bytes are dropped. */
  #end(how: 'end' | 'abandoned' | Failure): void {
    if (this.#ending !== undefined) return
    this.#ending = how
    this.#timer.stop()
    this.#bounds.signal.removeEventListener('abort', this.abandon)
    if (how instanceof Error) this.#opening.reject(how)
    else this.#opening.resolve(false)
    if (how !== 'end') this.#controller?.abort(abandoned)
    this.#wake?.()
  }

  #close(): void {
    clearTimeout(this.#draining)
    this.#closed()
  }

  #forget(): void {
    this.#waiting = []
    this.#waitingBytes = 0
    if (this.#controller?.paused) this.#controller.resume()
  }
}

/** Whether the body is compressed or otherwise coded (RFC 9110 section 8.4). */
export function isCoded(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  return (headers['content-encoding'] ?? 'identity') !== 'identity'
}

/** The Retry-After header, if it occurs once. */
export function retryAfterOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const value = headers['retry-after']
  return typeof value === 'string' ? value : undefined
}

/** Reads the first bytes of an error response, as far as they arrive. They are enough because the status decides. */
export async function readRefusal(reception: Reception): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    while (size <= mostRefused) {
      const bytes = await reception.read()
      if (typeof bytes === 'string') return Buffer.concat(chunks).toString()
      chunks.push(bytes)
      size += bytes.length
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
  reception.abandon()
  return Buffer.concat(chunks).toString()
}
