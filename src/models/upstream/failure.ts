import { Problem } from '../../platform/problems.ts'

/** What an attempt shows about the endpoint. `unknown`: the caller disconnected, or a rate limit refused the request. */
export type Health = 'healthy' | 'failing' | 'unknown'

type FailureDetails = Partial<Pick<Failure, 'repeatable' | 'otherEndpointOnly' | 'health' | 'pause'>>

/** A failed attempt: the Problem to report if it was the last one, and whether and where to try again. */
export class Failure extends Error {
  readonly problem: Problem
  /** Whether another attempt may succeed and this attempt has generated nothing. */
  readonly repeatable: boolean
  readonly health: Health
  /** Whether only another endpoint may be tried, not the same one again. */
  readonly otherEndpointOnly: boolean
  /** The upstream's Retry-After, in milliseconds. */
  readonly pause: number

  constructor(
    problem: Problem,
    { repeatable = false, otherEndpointOnly = false, health = 'failing', pause = 0 }: FailureDetails = {},
  ) {
    super(problem.message, { cause: problem })
    this.name = 'Failure'
    this.problem = problem
    this.repeatable = repeatable
    this.otherEndpointOnly = otherEndpointOnly
    this.health = health
    this.pause = pause
  }
}

/** The failure for a response that cannot be used. `what` goes to the log and quotes nothing from the response. */
export const unusable = (what: string, repeatable = false): Failure =>
  new Failure(
    new Problem('upstream_failed', 'The model sent an invalid response. Try again.', {
      cause: new Error(what),
    }),
    { repeatable },
  )

/** The failure for a reply that lacks some of the choices that were asked for: its server does not take `n`, but is well. */
export const choicesMissing = (): Failure =>
  new Failure(
    new Problem('upstream_failed', 'The model did not return all choices. Ask for one at a time.', {
      cause: new Error('a chat completion with fewer choices than were asked for'),
    }),
    { health: 'healthy' },
  )

export const connectionLost = (cause: Error, repeatable: boolean): Failure =>
  new Failure(
    new Problem('upstream_failed', 'The connection to the model failed. Try again.', { cause: describe(cause) }),
    { repeatable },
  )

/** Copies name, code and message only: undici's parser error contains the bytes received, which may be a reply. */
function describe(cause: Error): Error {
  const code = 'code' in cause ? ` (${String(cause.code)})` : ''
  return new Error(`${cause.name}${code}: ${cause.message}`)
}

/** `timeout.first_token` expired. A hung endpoint is not tried twice. */
export const firstTokenLate = (): Failure => new Failure(timedOut(), { repeatable: true, otherEndpointOnly: true })

/** `timeout.total` expired. */
export const replyLate = (): Failure => new Failure(timedOut())

const timedOut = (): Problem =>
  new Problem('upstream_timeout', 'The model did not respond in time. Try again, or request fewer tokens.')

/** An error response of an upstream. */
export interface UpstreamRefusal {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: string
  /** The endpoint's name and its error code, for the log. */
  readonly origin: string
  readonly code: string
}

/**
 * Classifies an error response. Its body may quote keys and prompts, so it reaches neither the caller nor the log. `sizes` are
 * tokens; without output the request is for embeddings.
 */
export function refused(refusal: UpstreamRefusal, sizes: { maxOutputTokens: number; context: number }): Failure {
  const { status, origin, code } = refusal
  const cause = new Error(`${origin} answered ${status} (${code})`)
  if ([400, 413, 422].includes(status)) {
    return new Failure(isAboutContext(refusal) ? tooLong(sizes, cause) : unacceptable(cause), { health: 'healthy' })
  }
  const pause = millisecondsOf(refusal.retryAfter)
  if ([429, 503, 529].includes(status)) {
    const retryAfter = Math.min(3600, Math.max(1, Math.ceil(pause / 1000)))
    const problem = new Problem('overloaded', `The model is at capacity. Try again in ${retryAfter} s.`, {
      retryAfter,
      cause,
    })
    return new Failure(problem, { repeatable: true, health: status === 429 ? 'unknown' : 'failing', pause })
  }
  return new Failure(refusedByUpstream(cause), { repeatable: status >= 500 || status === 408, pause })
}

const refusedByUpstream = (cause: Error): Problem =>
  new Problem('upstream_failed', 'The model behind this service refused the request. Try again.', { cause })

/** It would be refused again. */
const unacceptable = (cause: Error): Problem =>
  new Problem(
    'upstream_failed',
    'The model behind this service does not accept this request. Change it, or ask the operator: the reason is in the log.',
    { cause, retry: false },
  )

function tooLong({ maxOutputTokens, context }: { maxOutputTokens: number; context: number }, cause: Error): Problem {
  if (maxOutputTokens === 0) {
    const reason = `A text has more tokens than the model's context of ${context}. Shorten it.`
    return new Problem('context_length_exceeded', reason, { cause, field: 'input' })
  }
  const sizes = `up to ${maxOutputTokens} tokens of its reply are more than the model's context of ${context} tokens`
  return new Problem('context_length_exceeded', `The prompt and ${sizes}. Shorten one of them.`, { cause })
}

/** Whether the prompt was too long: OpenAI sends a code for it, other servers only a message. */
function isAboutContext({ body }: UpstreamRefusal): boolean {
  return /context[ _](length|size|window|limit)|prompt is too long/i.test(body.slice(0, 4096))
}

/** Parses Retry-After (RFC 9110, section 10.2.3), which is seconds or a date. Returns 0 if it is missing or invalid. */
function millisecondsOf(retryAfter = ''): number {
  const milliseconds = /^\d+(\.\d+)?$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : Date.parse(retryAfter) - Date.now()
  return Number.isNaN(milliseconds) ? 0 : Math.max(0, milliseconds)
}
