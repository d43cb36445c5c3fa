import { firstTokenLate, replyLate, type Failure } from './failure.ts'

/** Two timeouts of one response, in milliseconds: until it begins, and until it ends. They share a timer, because every request has them. */
export class ResponseTimer {
  #hasBegun = false
  #timer: NodeJS.Timeout

  /** `late` is called once, when a timeout expires. */
  constructor({ first, total }: { readonly first: number; readonly total: number }, late: (failure: Failure) => void) {
    this.#timer = setTimeout(
      () => {
        if (!this.#hasBegun) late(firstTokenLate())
        else this.#timer = setTimeout(() => late(replyLate()), Math.max(0, total - first))
      },
      Math.min(first, total),
    )
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
