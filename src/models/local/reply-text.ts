/** Converts tokens to text. `before` are the preceding tokens, which can determine a leading space. */
export type ToText<Token> = (tokens: readonly Token[], before: readonly Token[]) => string

/** The text of a reply in progress. */
export interface ReplyText<Token> {
  /** Adds the next token. Returns the text that can be sent now, and whether a stop string has ended the reply. */
  add(token: Token): { readonly text: string; readonly stopped: boolean }
  /** The text held back for a stop string that did not follow. An incomplete character is dropped. */
  rest(): string
}

/** An incomplete character decodes to at most three of these: it lacks at least one of at most four bytes. */
const unfinished = /\uFFFD{1,3}$/

/** Four tokens complete any character, because it has at most four bytes. Only invalid UTF-8 takes more. */
const mostTokensHeld = 16

/**
 * Turns tokens into text that can be sent. Holds back incomplete characters and possible beginnings of stop strings.
 *
 * @param stop strings that end the reply and are not part of it
 */
export function createReplyText<Token>(detokenize: ToText<Token>, stop: readonly string[]): ReplyText<Token> {
  const stops = stop.filter((text) => text !== '')
  let before: readonly Token[] = []
  let pending: Token[] = []
  let pendingSent = 0
  let held = ''

  /** The complete characters of the pending tokens that were not returned before. */
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

/** The length of the longest suffix of `text` that is a prefix of a stop string. */
function longestStart(text: string, stops: readonly string[]): number {
  let longest = 0
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1) {
      if (text.endsWith(stop.slice(0, length))) longest = length
    }
  }
  return longest
}
