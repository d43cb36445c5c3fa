import { withinPatience, type Database } from '../platform/database/database.ts'
import { foldCharges } from './appended-charges.ts'
import { readKeyStanding, type KeyStandingRow } from './key-standing-store.ts'
import { levelOf, type OwnLevels } from './till/limits.ts'

/** What a key may spend in a span of time, in 10⁻¹² of the unit. */
export interface KeyBudget {
  readonly limit: bigint
  /** What it spent since the span began. */
  readonly charged: bigint
  /** What new requests may cost: never below 0. */
  readonly left: bigint
  /** Until the next span begins. */
  readonly renewsInSeconds: number
}

/** The limits of a key, besides those of its account. Undefined: no such limit. */
export interface KeyStanding extends OwnLevels {
  readonly daily: KeyBudget | undefined
  readonly monthly: KeyBudget | undefined
  /** The maximum cost of its requests in flight. */
  readonly held: bigint
}

/** Undefined for a key without limits of its own. Throws Problem `unavailable`. */
export async function findKeyStanding(database: Database, keyId: string): Promise<KeyStanding | undefined> {
  const row = await withinPatience(
    database,
    foldCharges(database).then(() => readKeyStanding(database, keyId)),
  )
  return row && standingIn(row)
}

function standingIn(row: KeyStandingRow): KeyStanding {
  const budget = (limit: bigint | null, charged: bigint, leftUs: bigint): KeyBudget | undefined => {
    if (limit === null) return undefined
    const left = limit - charged - row.held
    return { limit, charged, left: left > 0n ? left : 0n, renewsInSeconds: Math.ceil(Number(leftUs) / 1e6) }
  }
  const { requests_per_minute: rpm, tokens_per_minute: tpm } = row
  return {
    requests: rpm === null ? undefined : levelOf(rpm, Number(row.request_level)),
    tokens: tpm === null ? undefined : levelOf(tpm, Number(row.token_level)),
    daily: budget(row.daily_budget, row.day_charged, row.day_left_us),
    monthly: budget(row.monthly_budget, row.month_charged, row.month_left_us),
    held: row.held,
  }
}
