/** Tokens to text, as node-llama-cpp does it. `before` are tokens in front, which may decide on a leading space. */
export type Detokenize<Token> = (tokens: readonly Token[], before: readonly Token[]) => string

/** The text of a reply as it grows. */
export interface ReplyText<Token> {
  /** Takes the next token. Returns the text that is now certain, and whether a stop string has ended the reply. */
  add(token: Token): { readonly text: string; readonly stopped: boolean }
  /** What was held back for a stop string that never came. A character that was never finished is left out. */
  rest(): string
}

/** What an unfinished character decodes to: at most three bytes of it can be there, each at most one of these. */
const unfinished = /\uFFFD{1,3}$/

/** A character has at most four bytes, so that four tokens finish any; more only happens to text that is no UTF-8. */
const mostTokensHeld = 16

/**
 * Turns tokens into text that may be sent: never half a character, and never a part of a stop string.
 *
 * @param stop strings that end the reply; their text is not part of it
 */
export function createReplyText<Token>(detokenize: Detokenize<Token>, stop: readonly string[]): ReplyText<Token> {
  const stops = stop.filter((text) => text !== '')
  let before: readonly Token[] = []
  let pending: Token[] = []
  let pendingSent = 0
  let held = ''

  /** The text of the pending tokens as far as it is whole and was not returned before. */
  function decode(token: Token): string {
    pending.push(token)
    const text = detokenize(pending, before)
    const whole = pending.length < mostTokensHeld ? text.replace(unfinished, '') : text
    const fresh = whole.slice(pendingSent)
    pendingSent = Math.max(pendingSent, whole.length)
    if (whole.length === text.length) {
      before = pending
      pending = []
      pendingSent = 0
    }
    return fresh
  }

  return {
    add(token) {
      held += decode(token)
      const end = firstStop(held, stops)
      if (end !== undefined) {
        const text = held.slice(0, end)
        held = ''
        return { text, stopped: true }
      }
      const certain = held.length - longestStart(held, stops)
      const text = held.slice(0, certain)
      held = held.slice(certain)
      return { text, stopped: false }
    },
    rest() {
      const text = held
      held = ''
      return text
    },
  }
}

function firstStop(text: string, stops: readonly string[]): number | undefined {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
  return found.length === 0 ? undefined : Math.min(...found)
}

/** The length of the longest end of `text` that a stop string begins with. */
function longestStart(text: string, stops: readonly string[]): number {
  let longest = 0
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1) {
      if (text.endsWith(stop.slice(0, length))) longest = length
    }
  }
  return longest
}
