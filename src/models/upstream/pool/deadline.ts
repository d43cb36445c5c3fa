import { firstTokenLate, replyLate, type Failure } from '../failure.ts'

/** A signal that aborts when the caller disconnects or a timeout expires, with the reason. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Why the signal aborted; undefined before that. */
  readonly reason: 'disconnected' | Failure | undefined
  /** Stops the timeout `first`. */
  begun(): void
  /** Stops both timeouts. */
  end(): void
  /** Aborts without a reason. */
  abort(): void
}

/** `first`, which may be absent, and `total` are milliseconds. `ended` is called once, by the first `end`. */
export function createDeadline(
  caller: AbortSignal,
  { first, total }: { readonly first?: number | undefined; readonly total: number },
  ended: () => void,
): Deadline {
  const controller = new AbortController()
  let reason: 'disconnected' | Failure | undefined
  let open = true
  const stop = (why: 'disconnected' | Failure): void => {
    reason ??= why
    controller.abort()
  }
  const leave = (): void => stop('disconnected')
  const firstTimer = first === undefined ? undefined : setTimeout(() => stop(firstTokenLate()), first)
  const totalTimer = setTimeout(() => stop(replyLate()), total)
  caller.addEventListener('abort', leave)
  return Object.freeze({
    signal: controller.signal,
    get reason() {
      return reason
    },
    begun: () => clearTimeout(firstTimer),
    end() {
      clearTimeout(firstTimer)
      clearTimeout(totalTimer)
      caller.removeEventListener('abort', leave)
      if (open) ended()
      open = false
    },
    abort: () => controller.abort(),
  })
}

/** Two timeouts of one response, in milliseconds: until its first byte, if that has one, and until it ends. They share a timer. */
export class ResponseTimer {
  #hasBegun = false
  #timer: NodeJS.Timeout

  /** `late` is called once, when a timeout expires. */
  constructor({ first, total }: { readonly first?: number; readonly total: number }, late: (failure: Failure) => void) {
    const wait = Math.min(first ?? total, total)
    this.#timer = setTimeout(() => {
      if (first !== undefined && !this.#hasBegun) late(firstTokenLate())
      else if (first === undefined) late(replyLate())
      else this.#timer = setTimeout(() => late(replyLate()), total - wait)
    }, wait)
  }

  /** Stops the timeout `first`. */
  begun(): void {
    this.#hasBegun = true
  }

  /** Stops both. */
  stop(): void {
    clearTimeout(this.#timer)
  }
}
