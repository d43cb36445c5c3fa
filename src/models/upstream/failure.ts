import { Problem } from '../../platform/problems.ts'

/** What an attempt says of the endpoint; `unknown` where it says nothing: the caller left, or the pace was refused. */
export type Health = 'well' | 'sick' | 'unknown'

type FailureDetails = Partial<Pick<Failure, 'repeatable' | 'elsewhere' | 'health' | 'rest'>>

/** One attempt that failed: what the caller is told if it was the last, and what it means for another. */
export class Failure extends Error {
  readonly problem: Problem
  /** Whether another attempt may succeed and this one has generated nothing. */
  readonly repeatable: boolean
  readonly health: Health
  /** Whether only another endpoint may be tried. */
  readonly elsewhere: boolean
  /** Milliseconds of the upstream's Retry-After. */
  readonly rest: number

  constructor(
    problem: Problem,
    { repeatable = false, elsewhere = false, health = 'sick', rest = 0 }: FailureDetails = {},
  ) {
    super(problem.message, { cause: problem })
    this.name = 'Failure'
    this.problem = problem
    this.repeatable = repeatable
    this.elsewhere = elsewhere
    this.health = health
    this.rest = rest
  }
}

/** An answer that is none. `what` is for the log and repeats nothing of it. */
export const unusable = (what: string, repeatable = false): Failure =>
  new Failure(
    new Problem('upstream_failed', 'The model sent an answer that cannot be used. Try again.', {
      cause: new Error(what),
    }),
    { repeatable },
  )

export const connectionLost = (cause: Error, repeatable: boolean): Failure =>
  new Failure(
    new Problem('upstream_failed', 'The connection to the model failed. Try again.', { cause: describe(cause) }),
    { repeatable },
  )

/** undici's error of an answer that is no HTTP has the bytes of it, and those may be a reply: the log gets its words. */
function describe(cause: Error): Error {
  const code = 'code' in cause ? ` (${String(cause.code)})` : ''
  return new Error(`${cause.name}${code}: ${cause.message}`)
}

/** `timeout.first_token` expired. A hung endpoint is not tried twice. */
export const firstTokenLate = (): Failure => new Failure(timedOut(), { repeatable: true, elsewhere: true })

/** `timeout.total` expired. */
export const replyLate = (): Failure => new Failure(timedOut())

const timedOut = (): Problem =>
  new Problem('upstream_timeout', 'The model did not answer in time. Try again, or ask for fewer tokens.')

/** A refusal by its status and what came with it. */
export interface UpstreamRefusal {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: string
  /** Whose it is, and in which words of theirs: for the log. */
  readonly origin: string
  readonly code: string
}

/** Nothing of the body reaches the caller or the log: it may repeat keys and prompts. `sizes` are tokens. */
export function refused(refusal: UpstreamRefusal, sizes: { maxOutputTokens: number; context: number }): Failure {
  const { status, origin, code } = refusal
  const cause = new Error(`${origin} answered ${status} (${code})`)
  if ([400, 413, 422].includes(status)) {
    return new Failure(isAboutContext(refusal) ? tooLong(sizes, cause) : refusedByUpstream(cause), { health: 'well' })
  }
  const rest = millisecondsOf(refusal.retryAfter)
  if ([429, 503, 529].includes(status)) {
    const retryAfter = Math.min(3600, Math.max(1, Math.ceil(rest / 1000)))
    const problem = new Problem('overloaded', `The model has no room. Try again in ${retryAfter} s.`, {
      retryAfter,
      cause,
    })
    return new Failure(problem, { repeatable: true, health: status === 429 ? 'unknown' : 'sick', rest })
  }
  return new Failure(refusedByUpstream(cause), { repeatable: status >= 500 || status === 408, rest })
}

const refusedByUpstream = (cause: Error): Problem =>
  new Problem('upstream_failed', 'The model behind this service refused the request. Try again.', { cause })

function tooLong({ maxOutputTokens, context }: { maxOutputTokens: number; context: number }, cause: Error): Problem {
  const sizes = `max_output_tokens (${maxOutputTokens}) together are more than the model's context of ${context} tokens`
  return new Problem('context_length_exceeded', `The prompt and ${sizes}. Shorten one of them.`, { cause })
}

/** Whether a refusal speaks of the context: by OpenAI's code, or in the words of the servers that have none. */
function isAboutContext({ body }: UpstreamRefusal): boolean {
  return /context[ _](length|size|window|limit)|prompt is too long/i.test(body.slice(0, 4096))
}

/** Retry-After (RFC 9110, 10.2.3): seconds or a date; 0 where there is none or nonsense. */
function millisecondsOf(retryAfter = ''): number {
  const milliseconds = /^\d+(\.\d+)?$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : Date.parse(retryAfter) - Date.now()
  return Number.isNaN(milliseconds) ? 0 : Math.max(0, milliseconds)
}
