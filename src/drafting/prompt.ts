import { formatMoney } from '../billing/prices/money.ts'
import { isDecimal } from '../platform/text/decimal.ts'
import { Problem } from '../platform/problems.ts'
import type { ReadSource } from './drafting-store.ts'

/** What a prompt says besides its sources. */
export interface PromptParts {
  /** The name of the client. */
  readonly client: string
  /** The name of the person who signs the letter. */
  readonly writer: string
  readonly currency: string
}

/**
 * The text that a model reads: the sources, in the order in which they were chosen, and who signs. The day and the people
 * of a note are left out where its text names them, since small models repeat what they read twice. Which sources a person may choose is
 * decided by `startDraft` in drafting-store.ts.
 */
export function promptInput(sources: readonly ReadSource[], parts: PromptParts): string {
  const texts = sources.map((source) => sourceText(source, parts))
  const signed = sources[0]?.kind === 'dispute' ? `Reply from ${parts.writer}` : `Signed: ${parts.writer}.`
  return [...texts, signed].join('\n\n')
}

/** What the text of a source needs besides the source. */
type SourceParts = Pick<PromptParts, 'client' | 'currency'>

/** What the prompt says of a source. */
export function sourceText(source: ReadSource, parts: SourceParts): string {
  switch (source.kind) {
    case 'note':
      return noteText(source)
    case 'dispute':
      return disputeText(source, parts)
    case 'document':
      return documentText(source)
  }
}

function documentText({ title, pages, text }: ReadSource): string {
  const which = !pages ? '' : `, ${pages.length === 1 ? 'page' : 'pages'} ${names.format(pages.map(String))}`
  return `Document ${title}${which}:\n${text ?? ''}`
}

function noteText({ title, participants, text: written }: ReadSource): string {
  const text = written ?? ''
  const day = dayFormat.format(new Date(title))
  const dayAndMonth = day.replace(/ \d+$/, '')
  const others = participants.filter((each) => !text.includes(lastNameOf(each)))
  const when = text.includes(dayAndMonth) || text.includes(title) ? '' : ` on ${day}`
  const who = others.length === 0 ? '' : ` with ${names.format(others)}`
  return when + who === '' ? text : `Meeting${when}${who}\n${text}`
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
const names = new Intl.ListFormat('en')
const lastNameOf = (name: string): string => name.split(' ').at(-1) ?? name

function disputeText({ title, text, amount }: ReadSource, { client, currency }: SourceParts): string {
  const lines = [`Client: ${client}`, `Invoice: ${title}`]
  if (amount !== null) lines.push(`Amount: ${amountText(BigInt(amount), currency)}`)
  return [...lines, text ?? ''].join('\n')
}

/** "$1,160" and "$12.50": as people write an amount. */
function amountText(amount: bigint, currency: string): string {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    maximumFractionDigits: 12,
    trailingZeroDisplay: 'stripIfInteger',
  })
  const text = formatMoney(amount)
  return isDecimal(text) ? format.format(text) : `${text} ${currency}`
}

/** Tokens that a prompt leaves for the reply: a short letter. */
export const leastReply = 200

/** A token has about four characters of English, and fewer of other languages. */
const charactersPerToken = 3

/** More characters than a token has on average in any text. Documents with more are refused before their texts are loaded. */
export const mostCharactersPerToken = 16

/**
 * The error for a prompt that does not fit the model. It names the instructions if they are most of it, and otherwise the
 * sources to leave out: the longest, until the others would fit.
 */
export function tooLong(instructions: string, sources: readonly ReadSource[], contextTokens: number): Problem {
  const room = (contextTokens - leastReply) * charactersPerToken - instructions.length
  const longest = sources.toSorted((one, other) => lengthOf(other) - lengthOf(one))
  const takes = `too long for the model, which takes ${contextTokens} tokens with the letter`
  let size = sources.reduce((sum, source) => sum + lengthOf(source), 0)
  if (instructions.length > size) {
    const reason = `The instructions are ${takes}. Shorten them.`
    return new Problem('context_length_exceeded', reason, { field: 'instructions' })
  }
  const left: string[] = []
  for (const source of longest.slice(0, -1)) {
    if (left.length > 0 && size <= room) break
    size -= lengthOf(source)
    left.push(nameOf(source))
  }
  const advice = left.length === 0 ? 'Shorten it, or write from another.' : `Leave some out: ${names.format(left)}.`
  const what = sources.length === 1 ? `${nameOf(longest[0])} is` : 'The notes, disputes and documents are'
  const field = `${longest[0]?.kind ?? 'note'}s`
  return new Problem('context_length_exceeded', `${capital(what)} ${takes}. ${advice}`, { field })
}

function nameOf(source: ReadSource | undefined): string {
  if (source === undefined) return 'the text'
  const named = { note: 'the note of', dispute: 'the dispute about', document: 'the document' }
  return `${named[source.kind]} ${source.title}`
}

const lengthOf = ({ length }: ReadSource): number => length ?? 0

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
