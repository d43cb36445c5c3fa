import { Problem, type ProblemCode, type ProblemDetails } from '../../platform/problems.ts'
import { quoted } from '../../platform/text/one-line.ts'
import type { PayerBudget } from '../payer.ts'
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

/** The limits of an account, or of a key, and the levels of its buckets at some moment. Null: a key without that limit. */
export interface Standing {
  readonly request_level: bigint
  readonly token_level: bigint
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
}

/** The levels of those limits that there are. */
export type OwnLevels = { readonly [Kind in keyof Levels]: Level | undefined }

type KeyColumns = 'key_request_level' | 'key_token_level' | 'key_requests_per_minute' | 'key_tokens_per_minute'
type StandingRow = Pick<TillRow, 'request_level' | 'token_level' | 'requests_per_minute' | 'tokens_per_minute'> &
  Partial<Pick<TillRow, KeyColumns>>

/** The standing of the account in this row. */
export function accountStanding(row: StandingRow | undefined): Standing | undefined {
  if (!row || row.request_level === null || row.token_level === null) return undefined
  const { request_level, token_level, requests_per_minute, tokens_per_minute } = row
  if (requests_per_minute === null || tokens_per_minute === null) return undefined
  return { request_level, token_level, requests_per_minute, tokens_per_minute }
}

/** The standing of the key in this row, if it has limits of its own. */
export function keyStanding(row: StandingRow | undefined): Standing | undefined {
  const { key_request_level, key_token_level } = row ?? {}
  if (typeof key_request_level !== 'bigint' || typeof key_token_level !== 'bigint') return undefined
  return {
    request_level: key_request_level,
    token_level: key_token_level,
    requests_per_minute: row?.key_requests_per_minute ?? null,
    tokens_per_minute: row?.key_tokens_per_minute ?? null,
  }
}

/** The levels after the item of this row. */
export const levelsOf = (row: StandingRow | undefined): Levels | undefined =>
  tighterLevels(levelsNow(accountStanding(row)), levelsNow(keyStanding(row)))

/** The levels of each kind with less left. Undefined without a level of each kind. */
export function tighterLevels(one: OwnLevels | undefined, other: OwnLevels | undefined): Levels | undefined {
  const requests = tighter(one?.requests, other?.requests)
  const tokens = tighter(one?.tokens, other?.tokens)
  return requests && tokens && { requests, tokens }
}

const tighter = (one: Level | undefined, other: Level | undefined): Level | undefined =>
  one && (!other || one.remaining <= other.remaining) ? one : other

export const levelsNow = (standing: Standing | undefined): OwnLevels | undefined =>
  standing && projectLevels(standing, 0, { requests: 0, tokens: 0 })

/** The levels `ms` milliseconds later, including what an allowance holds. */
export function projectLevels(
  standing: Standing,
  ms: number,
  atHand: { readonly requests: number; readonly tokens: number },
): OwnLevels {
  const { requests_per_minute: rpm, tokens_per_minute: tpm, request_level, token_level } = standing
  const passed = Math.floor(ms * 1000)
  return {
    requests: rpm === null ? undefined : levelOf(rpm, Number(request_level) + passed * rpm + atHand.requests * parts),
    tokens: tpm === null ? undefined : levelOf(tpm, Number(token_level) + passed * tpm + atHand.tokens * parts),
  }
}

/** The parts of a request or token. */
const parts = Number(unit)

/** A level in parts of a request or token. Rounded above 2⁵³ parts, which is less than a millionth of a token. */
export function levelOf(limit: number, level: number): Level {
  const missing = Math.max(0, limit * parts - level)
  return {
    limit,
    remaining: Math.floor((limit * parts - missing) / parts),
    resetSeconds: Math.ceil(missing / limit / 1e6),
  }
}

/** A refusal of `till()`, or of the check that precedes it. */
export type RefusalRow = StandingRow & Pick<TillRow, 'outcome' | 'wait_us' | 'of_budget'>

/** The Problem for a refusal. `tokens` is the sum of the request's input and output tokens, `budgets` those it counts in. */
export function refusalOf(
  row: RefusalRow | undefined,
  tokens: number | `at least ${number}`,
  budgets: readonly PayerBudget[] | undefined,
): Problem {
  const levels = levelsOf(row)
  const account = levelsNow(accountStanding(row))
  const wait = Math.max(1, Math.ceil(Number(row?.wait_us ?? 0n) / 1e6))
  const refuse = (code: ProblemCode, reason: string, details: ProblemDetails = {}) =>
    new TillRefusal(code, reason, details, levels)
  switch (row?.outcome) {
    case 'no_billing_account':
      return refuse(row.outcome, 'This key belongs to a closed account. Use a key from an open account.')
    case 'insufficient_credit':
      return refuse(
        row.outcome,
        'The remaining credit does not cover the maximum cost of this request. Add credit, or lower max_output_tokens.',
      )
    case 'credit_held':
      return refuse(
        'insufficient_credit',
        'Requests in flight hold the credit that this request needs. Retry when they finish, or add credit.',
        { retryAfter: 1 },
      )
    case 'requests':
    case 'tokens':
      return refuse(
        'rate_limit_exceeded',
        `The account has used up its ${row.outcome} per minute. Retry in ${wait} s.`,
        {
          retryAfter: wait,
          ...limitDetails(account, row.outcome),
        },
      )
    case 'key_month':
    case 'key_day':
    case 'key_held':
    case 'key_requests':
    case 'key_tokens':
    case 'key_never_fits':
      return keyRefusalOf(row.outcome, {
        tokens,
        levels,
        own: levelsNow(keyStanding(row)),
        wait: row.wait_us === null ? undefined : wait,
      })
    case 'budget':
    case 'budget_held': {
      const name = budgets?.find(({ id }) => id === row.of_budget)?.name
      const budget = name === undefined ? 'a budget of the account' : `the budget ${quoted(name)}`
      return budgetRefusalOf(budget, {
        isHeld: row.outcome === 'budget_held',
        levels,
        wait: row.wait_us === null ? undefined : wait,
      })
    }
    case 'never_fits':
      return refuse(
        'can_never_fit_limit',
        `The request asks for ${tokens} tokens and the account may use ${account?.tokens?.limit} a minute. ` +
          'Shorten the input, lower max_output_tokens, or ask for a higher limit.',
        limitDetails(account, 'tokens'),
      )
    case 'in_progress':
      return refuse('idempotency_in_progress', 'A request with this Idempotency-Key is still running. Retry in 1 s.', {
        retryAfter: 1,
      })
    case 'replay':
      // Only for a request that moves to another model: between its two holds it had given up its key.
      return refuse(
        'idempotency_in_progress',
        'Another request with this Idempotency-Key was answered in the meantime. Retry in 1 s to get its reply.',
        { retryAfter: 1 },
      )
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
  /** The levels of the key. */
  readonly own: OwnLevels | undefined
  /** Seconds until the request can be admitted. */
  readonly wait: number | undefined
}

/** The Problem for a request that the limits of its key refuse. */
function keyRefusalOf(outcome: KeyOutcome, { tokens, levels, own, wait }: RefusalFacts): TillRefusal {
  switch (outcome) {
    case 'key_month':
    case 'key_day': {
      const [which, begins] = outcome === 'key_day' ? ['daily', 'day'] : ['monthly', 'month']
      const reason =
        wait === undefined
          ? 'The maximum cost of this request exceeds a budget of this key. Lower max_output_tokens, or ask for a higher budget.'
          : `What is left of the ${which} budget of this key does not cover the most this request can cost. It is renewed when the next ${begins} begins (UTC), in ${wait} s.`
      return new TillRefusal('insufficient_credit', reason, retryIn(wait), levels)
    }
    case 'key_held': {
      const reason =
        "Requests in flight hold the part of this key's budget that this request needs. Retry when they finish."
      return new TillRefusal('insufficient_credit', reason, { retryAfter: 1 }, levels)
    }
    case 'key_requests':
    case 'key_tokens': {
      const kind = outcome === 'key_requests' ? 'requests' : 'tokens'
      const reason = `This key has used up its ${kind} per minute. Retry in ${wait} s.`
      return new TillRefusal('rate_limit_exceeded', reason, { ...retryIn(wait), ...limitDetails(own, kind) }, levels)
    }
    case 'key_never_fits': {
      const reason =
        `The request asks for ${tokens} tokens and this key may use ${own?.tokens?.limit} a minute. ` +
        'Shorten the input, lower max_output_tokens, or ask for a higher limit.'
      return new TillRefusal('can_never_fit_limit', reason, limitDetails(own, 'tokens'), levels)
    }
  }
}

/** The Problem for a request that a shared budget refuses. */
function budgetRefusalOf(
  budget: string,
  { isHeld, levels, wait }: Pick<RefusalFacts, 'levels' | 'wait'> & { readonly isHeld: boolean },
): TillRefusal {
  if (isHeld) {
    const reason = `Requests in flight hold the part of ${budget} that this request needs. Retry when they finish.`
    return new TillRefusal('insufficient_credit', reason, { retryAfter: 1 }, levels)
  }
  const lacking = `What is left of ${budget} does not cover the most this request can cost.`
  const remedy =
    wait === undefined ? 'Lower max_output_tokens, or ask for a higher budget.' : `It is renewed in ${wait} s.`
  return new TillRefusal('insufficient_credit', `${lacking} ${remedy}`, retryIn(wait), levels)
}

const retryIn = (wait: number | undefined): ProblemDetails => (wait === undefined ? {} : { retryAfter: wait })

function limitDetails(levels: OwnLevels | undefined, which: keyof Levels): ProblemDetails {
  const level = levels?.[which]
  if (level === undefined) return {}
  return { limit: { name: `${which}_per_minute`, value: level.limit, remaining: level.remaining } }
}
