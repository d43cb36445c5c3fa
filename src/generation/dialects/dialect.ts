import type { Levels } from '../../billing/till.ts'
import type { Start, Reply } from '../generation.ts'
import type { TextRequest } from '../request.ts'

/**
 * The wire shapes of one API, to the use case and back. Nothing is metered here: keys, limits, charges and repeated
 * requests are the same for all.
 */
export interface Dialect extends Manner {
  /** Reads the body of a request. Throws a Problem for its first fault. */
  read(body: unknown): Exchange
}

/** How an API refuses, and what it says in its headers. */
export interface Manner {
  /** The body of a refusal. */
  readonly refusal: (refusal: Refused, status: number) => object
  /** Headers that this API has besides those that every answer carries. */
  headers?(requestId: string): Record<string, string>
  /** Where its clients look for how the limits stand, besides the headers that every answer carries. */
  limitHeaders?(levels: Levels): Record<string, string>
}

/** One request, and how its reply is told. */
export interface Exchange {
  readonly request: TextRequest
  /** The body of the whole reply. */
  answer(reply: Reply): string
  /** Begins to tell a reply while it is generated. */
  stream(start: Omit<Start, 'levels'>): Telling
}

/** A reply as Server-Sent Events, each whole and ready to be written. */
export interface Telling {
  /** What comes before the first text. */
  readonly opening: readonly string[]
  readonly text: (delta: string) => string
  /** What comes after the last text. */
  closing(reply: Reply): readonly string[]
  /** The last event of a reply that broke off. `part` is what was charged of it. */
  failure(refusal: Refused, status: number, part?: Reply): string
}

/** What a refusal tells: section 7 of the specification. */
export interface Refused {
  readonly code: string
  readonly reason: string
  readonly field?: string | undefined
  readonly request_id: string
}

/** One event (WHATWG HTML, section 9.2). JSON has no line breaks of its own. */
export function event(name: string | undefined, data: object | string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return name === undefined ? `data: ${text}\n\n` : `event: ${name}\ndata: ${text}\n\n`
}

/** JSON that is written many times and differs in one text alone: the rest is written once. */
export function jsonAround(value: (text: string) => object): (text: string) => string {
  const [before = '', after = ''] = JSON.stringify(value(hole)).split(JSON.stringify(hole))
  return (text) => before + JSON.stringify(text) + after
}

/** No id and no name has it. */
const hole = '\0'

/** Seconds since 1970 in an id: the first 48 bits of a UUIDv7 are milliseconds (RFC 9562, section 5.7). */
export function createdAt(id: string): number {
  return Math.floor(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) / 1000)
}
