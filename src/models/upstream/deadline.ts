import { tooLate, type Failure } from './failure.ts'

/** A signal that aborts when the caller leaves or a time is over, and says which it was. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Why it aborted; undefined while it has not. */
  readonly reason: 'left' | Failure | undefined
  /** The reply has begun: from now on only the total time counts. */
  begun(): void
  /** It is over. */
  end(): void
  /** Aborts, for no reason of its own. */
  abort(): void
}

/**
 * `first` and `total` are milliseconds; without `first`, only the total time counts. `ended` is told once, when it is
 * over.
 */
export function createDeadline(
  caller: AbortSignal,
  { first, total }: { readonly first?: number | undefined; readonly total: number },
  ended: () => void,
): Deadline {
  const controller = new AbortController()
  let reason: 'left' | Failure | undefined
  let open = true
  const stop = (why: 'left' | Failure): void => {
    reason ??= why
    controller.abort()
  }
  const leave = (): void => stop('left')
  const firstTimer = first === undefined ? undefined : setTimeout(() => stop(tooLate(true)), first)
  const totalTimer = setTimeout(() => stop(tooLate(false)), total)
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
