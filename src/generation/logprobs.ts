import type { TokenLogprob } from '../models/conversation.ts'

/**
 * The log probabilities of a text that is passed on in pieces, perhaps later than it arrived and not to its end. Those of a token are
 * passed on with the first piece of it.
 */
export interface LogprobQueue {
  /** A text has arrived, with those of its tokens. */
  add(text: string, logprobs: readonly TokenLogprob[]): void
  /** Those of the tokens that begin within this text, which is passed on. */
  take(text: string): readonly TokenLogprob[]
  /** Those that are left at the end of a text that was not cut off, such as that of the token that ends it. */
  rest(): readonly TokenLogprob[]
  /** All that were passed on; undefined if none have arrived. */
  readonly taken: readonly TokenLogprob[] | undefined
}

/** Positions are in bytes, since a token may be a part of a character. */
export function createLogprobQueue(): LogprobQueue {
  const waiting: { readonly start: number; readonly logprob: TokenLogprob }[] = []
  const taken: TokenLogprob[] = []
  let [arrived, passed, hasAny] = [0, 0, false]

  function takeWhile(isDue: (start: number) => boolean): readonly TokenLogprob[] {
    const end = waiting.findIndex(({ start }) => !isDue(start))
    const due = waiting.splice(0, end === -1 ? waiting.length : end).map(({ logprob }) => logprob)
    for (const each of due) taken.push(each)
    return due
  }

  return {
    add(text, logprobs) {
      const length = Buffer.byteLength(text)
      // The tokens of some servers are not exactly the text: no difference goes beyond the piece that it is in.
      const last = arrived + Math.max(0, length - 1)
      let start = arrived
      for (const logprob of logprobs) {
        hasAny = true
        waiting.push({ start: Math.min(start, last), logprob })
        start += bytesOf(logprob)
      }
      arrived += length
    },
    take(text) {
      passed += Buffer.byteLength(text)
      return takeWhile((start) => start < passed)
    },
    rest: () => takeWhile(() => true),
    get taken() {
      return hasAny ? taken : undefined
    },
  }
}

const bytesOf = ({ token, bytes }: TokenLogprob): number => bytes?.length ?? Buffer.byteLength(token)

/** The log probabilities of each of these texts, in their order. Those after the last text belong to it. */
export function logprobsOfTexts(
  texts: readonly string[],
  logprobs: readonly TokenLogprob[],
): readonly (readonly TokenLogprob[])[] {
  const queue = createLogprobQueue()
  queue.add(texts.join(''), logprobs)
  return texts.map((text, index) => {
    const own = queue.take(text)
    return index === texts.length - 1 ? [...own, ...queue.rest()] : own
  })
}

/** Those of a text of which only the beginning was kept: of the tokens that begin within that. */
export function logprobsWithin(kept: string, text: string, logprobs: readonly TokenLogprob[]): readonly TokenLogprob[] {
  const queue = createLogprobQueue()
  queue.add(text, logprobs)
  return queue.take(kept)
}
