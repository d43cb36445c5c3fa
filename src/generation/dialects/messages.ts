import type { Message, Part, PartsMessage } from '../../models/conversation.ts'
import { mustBe, shownName } from './body.ts'

/** The most messages of a conversation. */
export const mostMessages = 4096

/** Refuses fields that are not known. */
export function refuseOthers(fields: object, known: readonly string[], place: string): void {
  const other = Object.keys(fields).find((name) => !known.includes(name))
  if (other !== undefined) throw mustBe(`${place}.${shownName(other)}`, 'omitted: it is not supported here')
}

/** JSON can carry lone surrogates and NUL, which neither a tokenizer nor a database accepts. */
export function checkedText(text: string, field: string): string {
  if (text.isWellFormed() && !text.includes('\0')) return text
  throw mustBe(field, 'valid Unicode without NUL characters')
}

/** The results of calls are one turn with the user's next message. `partsOf` returns the parts of a message. */
export function joinResults(
  messages: readonly Message[],
  partsOf: (message: Message) => readonly Part[],
): readonly Message[] {
  const turns: Message[] = []
  /** The parts of the last turn, if it ends with a result. */
  let results: Part[] | undefined
  for (const message of messages) {
    if (results && message.role === 'user') for (const part of partsOf(message)) results.push(part)
    else {
      results = endsWithResult(message) ? [...message.parts] : undefined
      turns.push(results ? { role: message.role, parts: results } : message)
    }
    if (results?.at(-1)?.kind !== 'result') results = undefined
  }
  return turns
}

const endsWithResult = (message: Message): message is PartsMessage => message.parts?.at(-1)?.kind === 'result'
