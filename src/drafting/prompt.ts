import { formatMoney } from '../billing/money.ts'
import { Problem } from '../platform/problems.ts'
import type { ReadSource } from './drafting-store.ts'

/** The text that a model reads: the sources, in the order in which they were chosen. */
export function promptInput(sources: readonly ReadSource[], currency: string): string {
  return sources.map((source) => textOf(source, currency)).join('\n\n')
}

function textOf(source: ReadSource, currency: string): string {
  const { kind, title, participants, text, amount, status } = source
  if (kind === 'note') {
    const present = participants.length === 0 ? '' : ` with ${participants.join(', ')}`
    return `Meeting on ${title}${present}\n${text}`
  }
  const sum = amount === null ? '' : ` over ${formatMoney(BigInt(amount))} ${currency}`
  return `Dispute about invoice ${title}${sum} (${status ?? 'open'})\n${text}`
}

/** Tokens that a prompt leaves for the reply: a short letter. */
export const leastReply = 200

/** A token has about four characters of English, and fewer of other languages. */
const charactersPerToken = 3

/** The error for sources that do not fit the model, with those to leave out: the longest, until the others would fit. */
export function tooLong(sources: readonly ReadSource[], contextTokens: number): Problem {
  const room = (contextTokens - leastReply) * charactersPerToken
  const longest = sources.toSorted((one, other) => other.text.length - one.text.length)
  let size = sources.reduce((sum, { text }) => sum + text.length, 0)
  const left: string[] = []
  for (const source of longest.slice(0, -1)) {
    if (left.length > 0 && size <= room) break
    size -= source.text.length
    left.push(nameOf(source))
  }
  const advice =
    left.length === 0
      ? 'Shorten it, or write from another.'
      : `Leave some out: ${new Intl.ListFormat('en').format(left)}.`
  const what = sources.length === 1 ? `${nameOf(longest[0])} is` : 'The notes and disputes are'
  const reason = `${capital(what)} too long for the model, which takes ${contextTokens} tokens with the letter. ${advice}`
  return new Problem('context_length_exceeded', reason, { field: 'notes' })
}

function nameOf(source: ReadSource | undefined): string {
  if (source === undefined) return 'the text'
  return source.kind === 'note' ? `the note of ${source.title}` : `the dispute about ${source.title}`
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
