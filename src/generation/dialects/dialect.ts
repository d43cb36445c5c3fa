import type { Levels } from '../../billing/till/till.ts'
import type { Delta, TokenLogprob } from '../../models/conversation.ts'
import type { Start, Reply } from '../generation.ts'
import type { TextRequest } from '../request.ts'

/**
 * Translates the wire shapes of one API to a generation request and back. Dialects meter nothing: keys, limits, charges and
 * idempotency are the same for all.
 */
export interface Dialect extends WireFormat {
  /** Parses the body of a request. Throws a Problem for its first fault. */
  read(body: unknown, permitted?: Permissions): DialectRequest
}

/** What operators let requests have besides what every request may have. Default: nothing. */
export interface Permissions {
  /** The names of fields that some model gets (`models[].pass`). Whether the model of a request does is checked when it is chosen. */
  readonly fields: ReadonlySet<string>
  /** Whether the price of some model has searches of the web. Whether that of the request's model does is checked when it is chosen. */
  readonly searches?: boolean
}

export const nothingMore: Permissions = { fields: new Set() }

/** The format of an API's errors and headers. */
export interface WireFormat {
  readonly api: 'tollgate' | 'openai' | 'anthropic'
  /** The body of an error. */
  readonly errorBody: (error: ErrorDetails, status: number) => object
  /** Headers that this API adds to every response. */
  headers?(requestId: string): Record<string, string>
  /** Headers in which its clients look for the limits, in addition to Tollgate's own. */
  limitHeaders?(levels: Levels): Record<string, string>
}

/** A parsed request, and how to write its reply. */
export interface DialectRequest {
  readonly request: TextRequest
  /** The body of the whole reply. */
  wholeBody(reply: Reply): string
  /** Writes the reply as a stream of events. */
  eventWriter(start: Omit<Start, 'levels'>): EventWriter
}

/** Writes the pieces of a reply, or of one choice of it. */
export interface PieceWriter {
  readonly text: (delta: string) => string
  /** The same with the log probabilities of its tokens. Only of dialects in which requests can ask for them. */
  readonly scored?: (delta: string, logprobs: readonly TokenLogprob[]) => string
  /** The events of pieces that are not text. */
  readonly deltas: (deltas: readonly Delta[]) => readonly string[]
}

/** Writes a reply as server-sent events. Each string is any number of complete events. */
export interface EventWriter extends PieceWriter {
  /** The events before the first part. */
  readonly opening: readonly string[]
  /** For the choices after the first. Only of dialects in which requests can ask for several. */
  readonly others?: readonly PieceWriter[]
  /** The events after the last part. */
  closing(reply: Reply): readonly string[]
  /** The last event of a stream that broke off. `part` is what was charged for it. */
  failure(details: ErrorDetails, status: number, part?: Reply): string
}

/** The fields of an error (section 7 of the specification). */
export interface ErrorDetails {
  readonly code: string
  readonly reason: string
  readonly field?: string | undefined
  readonly request_id: string
}

/** One event (WHATWG HTML, section 9.2). Serialized JSON contains no line breaks. */
export function event(name: string | undefined, data: object | string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return name === undefined ? `data: ${text}\n\n` : `event: ${name}\ndata: ${text}\n\n`
}

/** Serializes objects that differ in one string only. The rest is serialized once. */
export function jsonAround(value: (text: string) => object): (text: string) => string {
  const [before = '', after = ''] = JSON.stringify(value(placeholder)).split(JSON.stringify(placeholder))
  return (text) => before + JSON.stringify(text) + after
}

/** Occurs in no id and no name. */
const placeholder = '\0'

/** Seconds since 1970 in an id: the first 48 bits of a UUIDv7 are milliseconds (RFC 9562, section 5.7). */
export function createdAt(id: string): number {
  return Math.floor(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) / 1000)
}
