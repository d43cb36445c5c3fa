import { firstTokenLate, replyLate, type Failure } from '../failure.ts'

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
