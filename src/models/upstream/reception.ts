import type { Dispatcher } from 'undici'
import { connectionLost, firstTokenLate, replyLate, unusable, type Failure } from './failure.ts'

/** Bytes that wait for a slow caller before the upstream is told to wait, too. */
const mostWaiting = 64 * 1024

/** Milliseconds that an upstream gets to end an answer whose last event has come; its connection is then kept. */
const patience = 1000

/** For undici, which repeats it to a handler that is over. */
export const abandoned = new Error('given up')

/** Milliseconds and bytes that an answer may take, and when it is not wanted any more. */
export interface ReceptionBounds {
  /** Until it says `begun`. */
  readonly first: number
  readonly total: number
  readonly mostBytes: number
  readonly signal: AbortSignal
}

/** One answer, read as it comes: undici hands it in, one reader takes it out. It must be ended by `finish` or `leave`. */
export class Reception implements Dispatcher.DispatchHandler {
  status = 0
  retryAfter: string | undefined
  /** Settles when the answer begins: whether it has; not, when the caller left before. Rejects with a Failure. */
  readonly opened: Promise<boolean>
  readonly #opening = Promise.withResolvers<boolean>()
  readonly #bounds: ReceptionBounds
  readonly #closed: () => void
  readonly #timers: { first: NodeJS.Timeout; total: NodeJS.Timeout; draining?: NodeJS.Timeout }
  #controller: Dispatcher.DispatchController | undefined
  #ending: 'end' | 'left' | Failure | undefined
  #wake: (() => void) | undefined
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #bytes = 0

  /** `closed` is called once, when the connection is free again. */
  constructor(bounds: ReceptionBounds, closed: () => void) {
    this.#bounds = bounds
    this.#closed = closed
    this.opened = this.#opening.promise
    this.#timers = {
      first: setTimeout(() => this.#end(firstTokenLate()), bounds.first),
      total: setTimeout(() => this.#end(replyLate()), bounds.total),
    }
    bounds.signal.addEventListener('abort', this.leave)
  }

  /** What has come since the last time; `end` when that was all, `left` when the caller left. Throws Failure. */
  async read(): Promise<Buffer | 'end' | 'left'> {
    while (this.#waiting.length === 0 && this.#ending === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    const [first] = this.#waiting
    if (first !== undefined && this.#ending !== 'left') {
      const all = this.#waiting.length === 1 ? first : Buffer.concat(this.#waiting)
      this.#forget()
      return all
    }
    if (this.#ending instanceof Error) throw this.#ending
    return this.#ending ?? 'end'
  }

  /** The reply has begun: from now on only the total time counts. */
  begun(): void {
    clearTimeout(this.#timers.first)
  }

  /** All that matters has come. The connection is kept if the answer ends soon. */
  finish(): void {
    if (this.#ending !== undefined) return
    this.#end('end')
    this.#forget()
    this.#timers.draining = setTimeout(() => this.#controller?.abort(abandoned), patience)
  }

  /** Cuts the connection, unless the answer has ended. */
  readonly leave = (): void => this.#end('left')

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection.
    if (this.#ending !== undefined) controller.abort(abandoned)
    this.#controller = controller
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // They are slices of what was read: with them all of that would be kept, as long as the answer goes on.
    controller.rawHeaders = null
    // One that only informs: the answer is still to come (RFC 9110 section 15.2).
    if (status < 200) return
    this.status = status
    this.retryAfter = retryAfterOf(headers)
    this.#opening.resolve(true)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ending !== undefined) return
    this.#bytes += chunk.length
    if (this.#bytes > this.#bounds.mostBytes) return this.#end(unusable('more bytes than any reply has'))
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

  /** Once: however it ends, nothing more is taken in. */
  #end(how: 'end' | 'left' | Failure): void {
    if (this.#ending !== undefined) return
    this.#ending = how
    clearTimeout(this.#timers.first)
    clearTimeout(this.#timers.total)
    this.#bounds.signal.removeEventListener('abort', this.leave)
    if (how instanceof Error) this.#opening.reject(how)
    else this.#opening.resolve(false)
    if (how !== 'end') this.#controller?.abort(abandoned)
    this.#wake?.()
  }

  #close(): void {
    clearTimeout(this.#timers.draining)
    this.#closed()
  }

  #forget(): void {
    this.#waiting = []
    this.#waitingBytes = 0
    if (this.#controller?.paused) this.#controller.resume()
  }
}

/** The header, where there is one of them. */
export function retryAfterOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const value = headers['retry-after']
  return typeof value === 'string' ? value : undefined
}
