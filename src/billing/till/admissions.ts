import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../platform/database/database.ts'
import { admissionItem, type HoldItem } from './hold-item.ts'
import type { Allowances } from '../allowances/allowances.ts'
import type { Batches } from './batches.ts'
import { levelsAfter } from './levels.ts'
import type { Payer } from '../payer.ts'
import { refusalOf, type Levels, type Standing } from './limits.ts'
import { replayOf } from './replay.ts'
import type { TillRow } from './till-row.ts'
import type { Admission, HoldRequest, Grant, Till } from './till.ts'

/** Milliseconds that a refusal waits for instances to return their allowances. */
const recallPatience = 1500
/** Milliseconds between two tries. */
const recallPause = 100

/** Outcomes that may change when another instance returns its allowance. */
const scarce: ReadonlySet<string> = new Set([
  'credit_held',
  'requests',
  'tokens',
  'key_held',
  'key_requests',
  'key_tokens',
  'budget_held',
])

export interface Admissions extends Pick<Till, 'admit' | 'takeRequest'> {
  /** Admits a request again, without taking another request from the limit. Throws TillRefusal. */
  readmit(request: HoldRequest): Promise<Grant>
}

/** Admits from allowances, or else with `till()`. */
export function createAdmissions({
  database,
  allowances,
  batches,
}: {
  readonly database: Database
  readonly allowances: Allowances
  readonly batches: Batches
}): Admissions {
  /** Recalls the allowances of other instances before it refuses a request that they could cover. */
  async function send(item: HoldItem): Promise<TillRow | undefined> {
    const start = performance.now()
    for (;;) {
      const row = await batches.send('admit', item, { patience: start + database.callerPatience - performance.now() })
      if (!row?.lent || !scarce.has(row.outcome) || performance.now() > start + recallPatience) return row
      const lender = lenderOf(row, item)
      if (lender === null || !allowances.giveBack(lender)) await sleep(recallPause)
    }
  }

  function levelsIfAdmitted(row: TillRow | undefined, payer: Payer, tokens: number | `at least ${number}`): Levels {
    const levels = levelsAfter(allowances, row)
    if (row?.outcome === 'admitted' && levels) return levels
    throw refusalOf(row, tokens, payer.budgets)
  }

  function admitted(row: TillRow | undefined, request: HoldRequest): Grant {
    const levels = levelsIfAdmitted(row, request.payer, tokensOf(request))
    return { kind: 'admitted', levels, maxOutputTokens: row?.charged_output ?? request.maxOutputTokens }
  }

  /** A budget has no levels in a row, so that its use is noted here. */
  async function sendNoted(request: HoldRequest): Promise<TillRow | undefined> {
    const askedAt = performance.now()
    const row = await send(admissionItem(request, 1))
    for (const { id } of request.payer.budgets ?? []) allowances.noted(id, unlimited, askedAt)
    return row
  }

  return Object.freeze<Admissions>({
    async admit(request: HoldRequest): Promise<Admission> {
      // What people spend is in the sums at once: a client's costs are read with the drafts that caused them.
      const mayTake = request.idempotency === undefined && request.payer.personId === undefined
      const taken = mayTake ? allowances.take(request) : undefined
      if (taken !== undefined) {
        return { kind: 'admitted', levels: taken, maxOutputTokens: request.maxOutputTokens }
      }
      const row = await sendNoted(request)
      const levels = levelsAfter(allowances, row)
      const replay = row && levels && (await replayOf(database, row, levels))
      return replay ?? admitted(row, request)
    },
    async readmit(request) {
      return admitted(await send(admissionItem(request, 0)), request)
    },
    async takeRequest(requestId, payer) {
      const { accountId: account, keyId: key } = payer
      const none = { input: 0, output: 0, input_price: 0, output_price: 0 }
      return levelsIfAdmitted(await send({ hold: requestId, account, key, ...none, requests: 1 }), payer, 0)
    },
  })
}

const unlimited: Standing = { request_level: 0n, token_level: 0n, requests_per_minute: null, tokens_per_minute: null }

/** Whose allowances were recalled. */
function lenderOf({ outcome, of_limit, of_budget }: TillRow, item: HoldItem): string | null {
  if (outcome === 'budget_held') return of_budget
  return outcome.startsWith('key_') ? of_limit : item.account
}

const tokensOf = ({ inputTokens, maxOutputTokens, leastOutputTokens }: HoldRequest): number | `at least ${number}` =>
  leastOutputTokens === undefined ? inputTokens + maxOutputTokens : `at least ${inputTokens + leastOutputTokens}`
