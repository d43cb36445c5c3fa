import { Problem, type ProblemCode, type ProblemDetails } from '../platform/problems.ts'
import type { TillRow } from './till-row.ts'

/** One limit of an account: its value per minute, what remains, and the seconds until its bucket is full. */
export interface Level {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

export interface Levels {
  readonly requests: Level
  readonly tokens: Level
}

/** A refusal of the till, with the levels of the account if there is one. */
export class TillRefusal extends Problem {
  readonly levels: Levels | undefined

  constructor(code: ProblemCode, reason: string, details: ProblemDetails, levels: Levels | undefined) {
    super(code, reason, details)
    this.levels = levels
  }
}

/** Levels count parts of a request or token, so that a bucket refills by its limit every µs. */
export const unit = 60_000_000n

/** The limits of an account and the levels of its buckets at some moment. */
export interface Standing {
  readonly request_level: bigint
  readonly token_level: bigint
  readonly requests_per_minute: number
  readonly tokens_per_minute: number
}

type StandingRow = Pick<TillRow, 'request_level' | 'token_level' | 'requests_per_minute' | 'tokens_per_minute'>

export function standingOf(row: StandingRow | undefined): Standing | undefined {
  if (!row || row.request_level === null || row.token_level === null) return undefined
  const { request_level, token_level, requests_per_minute, tokens_per_minute } = row
  if (requests_per_minute === null || tokens_per_minute === null) return undefined
  return { request_level, token_level, requests_per_minute, tokens_per_minute }
}

/** The levels after the item of this row. */
export function levelsOf(row: StandingRow | undefined): Levels | undefined {
  const standing = standingOf(row)
  return standing && projectLevels(standing, 0, { requests: 0, tokens: 0 })
}

/** The levels `ms` milliseconds later, including what an allowance holds. */
export function projectLevels(
  standing: Standing,
  ms: number,
  atHand: { readonly requests: number; readonly tokens: number },
): Levels {
  const passed = BigInt(Math.floor(ms * 1000))
  const { requests_per_minute, tokens_per_minute } = standing
  const requests = standing.request_level + passed * BigInt(requests_per_minute) + BigInt(atHand.requests) * unit
  const tokens = standing.token_level + passed * BigInt(tokens_per_minute) + BigInt(atHand.tokens) * unit
  return { requests: levelOf(requests_per_minute, requests), tokens: levelOf(tokens_per_minute, tokens) }
}

/** A level in parts of a request or token. */
export function levelOf(limit: number, level: bigint): Level {
  const whole = BigInt(limit) * unit
  const missing = level < whole ? whole - level : 0n
  const resetSeconds = Math.ceil(Number(missing) / limit / 1e6)
  return { limit, remaining: Number((whole - missing) / unit), resetSeconds }
}

/** A refusal of `till()`, or of the check that precedes it. */
export type RefusalRow = StandingRow & Pick<TillRow, 'outcome' | 'wait_us'>

/** The Problem for a refusal. `tokens` is the sum of the request's input and output tokens. */
export function refusalOf(row: RefusalRow | undefined, tokens: number | `at least ${number}`): Problem {
  const levels = levelsOf(row)
  const wait = Math.max(1, Math.ceil(Number(row?.wait_us ?? 0n) / 1e6))
  const refuse = (code: ProblemCode, reason: string, details: ProblemDetails = {}) =>
    new TillRefusal(code, reason, details, levels)
  switch (row?.outcome) {
    case 'no_billing_account':
      return refuse(row.outcome, 'The account behind this key is closed. Use the key of an open account.')
    case 'insufficient_credit':
      return refuse(
        row.outcome,
        'The credit left does not cover the most this request can cost. Add credit, or lower max_output_tokens.',
      )
    case 'credit_held':
      return refuse(
        'insufficient_credit',
        'Requests in flight hold the credit that this request needs. Retry when they have ended, or add credit.',
        { retryAfter: 1 },
      )
    case 'requests':
    case 'tokens':
      return refuse(
        'rate_limit_exceeded',
        `The account has used up its ${row.outcome} per minute. Retry in ${wait} s.`,
        {
          retryAfter: wait,
          ...limitDetails(levels, row.outcome),
        },
      )
    case 'key_month':
    case 'key_day':
    case 'key_held':
    case 'key_requests':
    case 'key_tokens':
    case 'key_never_fits':
      return keyRefusalOf(row.outcome, { tokens, levels, wait: row.wait_us === null ? undefined : wait })
    case 'never_fits':
      return refuse(
        'can_never_fit_limit',
        `The request asks for ${tokens} tokens and the account may use ${levels?.tokens.limit} a minute. ` +
          'Shorten the input, lower max_output_tokens, or ask for a higher limit.',
        limitDetails(levels, 'tokens'),
      )
    case 'in_progress':
      return refuse('idempotency_in_progress', 'A request with this Idempotency-Key is still running. Retry in 1 s.', {
        retryAfter: 1,
      })
    case 'mismatch':
      return refuse(
        'idempotency_mismatch',
        'This Idempotency-Key was used with another body in the last 24 hours. Use a new key for a new request.',
        { field: 'Idempotency-Key' },
      )
    default:
      return new Problem('internal', 'The till did not reply to this request.', { cause: row?.outcome })
  }
}

type KeyOutcome = `key_${'month' | 'day' | 'held' | 'requests' | 'tokens' | 'never_fits'}`

interface RefusalFacts {
  readonly tokens: number | `at least ${number}`
  readonly levels: Levels | undefined
  /** Seconds until the request can be admitted. */
  readonly wait: number | undefined
}

/** The Problem for a request that the limits of its key refuse. */
function keyRefusalOf(outcome: KeyOutcome, { tokens, levels, wait }: RefusalFacts): TillRefusal {
  switch (outcome) {
    case 'key_month':
    case 'key_day': {
      const [which, begins] = outcome === 'key_day' ? ['daily', 'day'] : ['monthly', 'month']
      const reason =
        wait === undefined
          ? 'The most this request can cost exceeds a budget of this key. Lower max_output_tokens, or ask for a higher budget.'
          : `What is left of the ${which} budget of this key does not cover the most this request can cost. It is renewed when the next ${begins} begins (UTC), in ${wait} s.`
      return new TillRefusal('insufficient_credit', reason, retryIn(wait), levels)
    }
    case 'key_held': {
      const reason =
        'Requests in flight hold the budget of this key that this request needs. Retry when they have ended.'
      return new TillRefusal('insufficient_credit', reason, { retryAfter: 1 }, levels)
    }
    case 'key_requests':
    case 'key_tokens': {
      const kind = outcome === 'key_requests' ? 'requests' : 'tokens'
      const reason = `This key has used up its ${kind} per minute. Retry in ${wait} s.`
      return new TillRefusal('rate_limit_exceeded', reason, { ...retryIn(wait), ...limitDetails(levels, kind) }, levels)
    }
    case 'key_never_fits': {
      const reason =
        `The request asks for ${tokens} tokens and this key may use ${levels?.tokens.limit} a minute. ` +
        'Shorten the input, lower max_output_tokens, or ask for a higher limit.'
      return new TillRefusal('can_never_fit_limit', reason, limitDetails(levels, 'tokens'), levels)
    }
  }
}

const retryIn = (wait: number | undefined): ProblemDetails => (wait === undefined ? {} : { retryAfter: wait })

function limitDetails(levels: Levels | undefined, which: keyof Levels): ProblemDetails {
  if (levels === undefined) return {}
  return { limit: { name: `${which}_per_minute`, value: levels[which].limit, remaining: levels[which].remaining } }
}
