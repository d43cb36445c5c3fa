import type { Logger } from 'pino'
import { Problem } from '../../platform/problems.ts'
import { holdItem } from './hold-item.ts'
import type { Allowances, AdmittedRequest } from '../allowances/allowances.ts'
import type { Batches, RequestEnding } from './batches.ts'
import { chargeRow } from './exchange-rows.ts'
import { levelsAfter } from './levels.ts'
import { costOf } from '../prices/price.ts'
import { costWithTerms, type ChargeTerms, type KeptTerms } from '../prices/terms.ts'
import type { TillRow } from './till-row.ts'
import { allTokensOf, chargedPart } from '../prices/tokens.ts'
import type { Charge, HoldRequest, Settlement, Till } from './till.ts'

/** Milliseconds that a settlement waits for the database, so that a failover loses no reply. */
const settlementPatience = 30_000

export type Settlements = Pick<Till, 'settle' | 'release' | 'unchargedTokens'>

export interface SettlementsNeeds {
  readonly allowances: Allowances
  readonly batches: Batches
  readonly log: Logger
}

/** Ends requests admitted from allowances with `exchange_timed()`, and all others with `till()`. */
export function createSettlements({ allowances, batches, log }: SettlementsNeeds): Settlements {
  let unchargedTokens = 0

  const send = (requestId: string, account: string, payload: object, received = false) =>
    batches.send('settle', { hold: requestId, account, ...payload }, { patience: settlementPatience, received })

  async function settleHold(requestId: string, accountId: string, charge: Charge): Promise<Settlement> {
    const row = await send(requestId, accountId, settlementItem(charge), charge.received)
    const levels = levelsAfter(allowances, row)
    const charged = chargedBy(row, charge)
    if (charged === undefined || levels === undefined) throw givenUp()
    noteUncharged(requestId, charge, charged)
    return { ...charged, levels }
  }

  function noteUncharged(requestId: string, charge: Charge, charged: Charged): void {
    const tokens = allTokensOf(charge) - allTokensOf(charged)
    if (tokens <= 0) return
    unchargedTokens += tokens
    log.warn({ request_id: requestId, tokens }, 'a model used more tokens than could be charged')
  }

  /** Ends a request once: concurrent calls wait for the first one, and only that one succeeds. */
  function end(ending: RequestEnding, received = false): Promise<boolean> {
    const { taken } = ending.outcome
    if (taken.settling !== undefined) return taken.settling.then(() => false)
    return (taken.settling = batches.end(ending, { patience: settlementPatience, received }))
  }

  /** An allowance covers only the hold: only till() can tell what else the credit and the limits cover. */
  async function settleMoved(taken: AdmittedRequest, charge: Charge): Promise<Settlement> {
    const { payer, requestId } = taken.request
    const settleRest = (): Promise<Settlement> => {
      // The limits of a key, and budgets, count what moved twice until the next report of the allowance.
      if (payer.limitId !== undefined) allowances.giveBack(payer.limitId)
      for (const { id } of payer.budgets ?? []) allowances.giveBack(id)
      return settleHold(requestId, payer.accountId, charge)
    }
    const late = (): void => void settleRest().catch(() => undefined)
    const ending = { outcome: { taken, moves: true as const }, hold: holdItem(taken.request), late }
    if (!(await end(ending, charge.received))) throw givenUp()
    return settleRest()
  }

  async function settleTaken(taken: AdmittedRequest, charge: Charge): Promise<Settlement> {
    const { request } = taken
    const { terms } = charge
    const cost = terms ? costWithTerms(terms, charge) : costOf(request.price, charge)
    const tokens = allTokensOf(charge)
    const { inputTokens: heldInput, maxOutputTokens: heldOutput } = request
    if (cost > taken.cost || tokens > heldInput + heldOutput || charge.outputTokens > heldOutput) {
      return settleMoved(taken, charge)
    }
    const outcome = { taken, charge: { cost, tokens } }
    const ending = { outcome, charge: chargeRow(request, charge, cost), terms: terms && keptOf(request, terms) }
    const done = await end(ending, charge.received)
    // After a reconnection as a new instance no levels are known, but a charged reply must still be sent.
    const levels = allowances.levelsFor(request.payer) ?? taken.levels
    if (!done || levels === undefined) throw givenUp()
    const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = charge
    return { cost, inputTokens, outputTokens, cachedTokens, cacheWriteTokens, levels }
  }

  return Object.freeze<Settlements>({
    settle(requestId, accountId, charge) {
      const taken = allowances.taken(requestId)
      return taken === undefined ? settleHold(requestId, accountId, charge) : settleTaken(taken, charge)
    },
    async release(requestId, accountId) {
      const taken = allowances.taken(requestId)
      if (taken === undefined) return levelsAfter(allowances, await send(requestId, accountId, {}))
      return (await end({ outcome: { taken } })) ? allowances.levelsFor(taken.request.payer) : undefined
    },
    unchargedTokens: () => unchargedTokens,
  })
}

type Charged = Omit<Settlement, 'levels'>

function chargedBy(row: TillRow | undefined, charge: Charge): Charged | undefined {
  if (!row || row.cost === null || row.charged_input === null || row.charged_output === null) return undefined
  return { cost: row.cost, ...chargedPart(charge, row.charged_input, row.charged_output) }
}

/** The rest of an item of the parameter p_settle of `till()`. JSON leaves out what is undefined. */
const settlementItem = ({ storedReply, terms, ...charge }: Charge) => ({
  input: charge.inputTokens,
  output: charge.outputTokens,
  cached: charge.cachedTokens || undefined,
  cache_write: charge.cacheWriteTokens || undefined,
  stop: charge.stopReason,
  source: charge.source,
  milliseconds: charge.milliseconds,
  tags: charge.tags,
  terms: terms && { prices: pricesOf(terms), ...terms.kept },
  ...storedReply,
})

const pricesOf = ({ prices: { input, output, cachedInput, cacheWrite } }: ChargeTerms) =>
  [input, output, cachedInput, cacheWrite].map((price) => price?.toString() ?? null)

/** An entry of the parameter p_terms. */
const keptOf = ({ requestId }: HoldRequest, { kept }: ChargeTerms): readonly [string, KeptTerms] => [requestId, kept]

const givenUp = (): Problem =>
  new Problem('unavailable', 'The request took too long. Nothing was charged. Try again.', { retryAfter: 1 })
