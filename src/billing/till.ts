import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { StopReason, UsageSource } from '../models/model.ts'
import type { Database } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import { createAllowances, type Ending, type Taken } from './allowances.ts'
import { openBatches } from './batches.ts'
import { chargeRow } from './exchange-rows.ts'
import type { TillRow } from './instance.ts'
import { levelsOf, refusalOf, type Levels } from './limits.ts'
import { costOf, type Price } from './prices.ts'
import type { Payer } from './payer.ts'
import { readStoredReply, updateStoredReply } from './stored-reply-store.ts'

export { TillRefusal, type Level, type Levels } from './limits.ts'

/** A request for admission, made before a model is called. */
export interface AdmissionRequest {
  /** A UUID. The hold and the ledger row have it as their id. */
  readonly requestId: string
  readonly payer: Payer
  readonly model: string
  readonly inputTokens: number
  readonly maxOutputTokens: number
  readonly price: Price
  readonly idempotency?: Idempotency | undefined
}

/** Two requests with the same key are the same request if their hashes are equal. */
export interface Idempotency {
  readonly key: string
  readonly hash: string
}

/** The reply to a request with an idempotency key, stored for 24 hours. */
export interface StoredReply {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Admission = { readonly kind: 'admitted'; readonly levels: Levels } | Replay
export type Replay = {
  readonly kind: 'replay'
  /** The request that the stored reply was made for. */
  readonly originalRequestId: string
  readonly levels: Levels
} & StoredReply

export interface ChargedTokens {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The tokens a request used, and what else the ledger records about it. */
export interface Charge extends ChargedTokens {
  readonly stopReason: StopReason
  readonly source: UsageSource
  /** Makes the reply to store, if the request has an idempotency key, from the tokens that are charged. */
  readonly storedReply?: ((charged: ChargedTokens) => StoredReply) | undefined
}

/**
 * A charge as the ledger records it. It has fewer tokens than were used if those exceeded the hold and neither the
 * credit nor the limits covered the rest. `cost` is in 10⁻¹² of the currency unit.
 */
export interface Settlement extends ChargedTokens {
  readonly cost: bigint
  readonly levels: Levels
}

/**
 * All money and all limits. Over any number of instances and at any concurrency no limit and no credit is exceeded, and
 * what is admitted is charged once or not at all, whatever crashes (sections 7 and 8 of the specification).
 *
 * Every method throws Problem `unavailable` when the database is away for longer than it can wait.
 */
export interface Till {
  /**
   * Takes one request and the tokens from the limits and holds the most the request can cost, or gives the stored
   * answer to a repeated one. Throws Refusal. Who is admitted must settle or release.
   */
  admit(request: AdmissionRequest): Promise<Admission>
  /** The stored reply to a repeated request whose cost is unknown, or undefined. */
  replay(accountId: string, idempotency: Idempotency | undefined): Promise<Replay | undefined>
  /**
   * Holds anew what is held, at another model and price, before that model is called. Takes no further request from the
   * limit. Throws Refusal, and nothing is held any more.
   */
  reprice(request: AdmissionRequest): Promise<Levels>
  /**
   * Charges what was used and gives back the rest. The reply may leave only after this. Throws Problem `unavailable`
   * when the hold was given up meanwhile: nothing is charged and the reply must not leave.
   */
  settle(requestId: string, accountId: string, charge: Charge): Promise<Settlement>
  /** Gives back everything but the request itself. Undefined when there was no hold any more. */
  release(requestId: string, accountId: string): Promise<Levels | undefined>
  /** Takes one request from the limit. Throws Refusal. */
  takeRequest(requestId: string, accountId: string): Promise<Levels>
  /** How the limits stand. Undefined when there is no such account. */
  levels(accountId: string): Promise<Levels | undefined>
  /** Tokens that this instance could not charge, because they exceeded the hold, the credit and the limits. */
  unchargedTokens(): number
  /** Settles what is under way and gives this instance up. Call it when no request is left. */
  drain(): Promise<void>
}

/** Milliseconds that a request waits for the database before it is refused … */
const admissionPatience = 4000
/** … and that a finished one does, so that a failover loses no reply. */
const settlementPatience = 30_000

/** Milliseconds that a refusal waits until no other instance keeps what the request could have … */
const recallPatience = 1500
/** … and how often it looks. */
const recallPause = 100

/** Opens the till of this instance. Throws Problem `unavailable` without a database. */
export async function createTill({ database, log }: { database: Database; log: Logger }): Promise<Till> {
  const allowances = createAllowances()
  let unchargedTokens = 0
  const batches = await openBatches({ database, allowances, log })

  const settle = (requestId: string, account: string, payload: object) =>
    batches.send('settle', { hold: requestId, account, ...payload }, settlementPatience)

  /** An admission that holds nothing and takes `requests` from the limit. */
  const take = (requestId: string, account: string, requests: 0 | 1) =>
    admit({ hold: requestId, account, input: 0, output: 0, input_price: 0, output_price: 0, requests })

  /** How the limits stand after what the row tells of, with what this instance has in advance. */
  const levelsAfter = (row: TillRow | undefined): Levels | undefined =>
    (row?.of_account ? allowances.levels(row.of_account) : undefined) ?? levelsOf(row)

  /** Nobody is refused for what an instance has taken in advance: it is given back first. */
  async function admit(payload: AdmissionPayload): Promise<TillRow | undefined> {
    const until = performance.now() + recallPatience
    for (;;) {
      const row = await batches.send('admit', payload, admissionPatience)
      if (!row?.lent || !scarce.has(row.outcome) || performance.now() > until) return row
      if (!allowances.giveBack(payload.account)) await sleep(recallPause)
    }
  }

  /** Once: who fell over may give up what is being given up already, and then nothing is left to end. */
  function end(ending: Ending, row: string | undefined): Promise<boolean> {
    const { taken } = ending
    if (taken.ending !== undefined) return taken.ending.then(() => false)
    return (taken.ending = batches.end(ending, row, settlementPatience))
  }

  async function settleBeyond(taken: Taken, charge: Charge) {
    await reprice(taken.request)
    return settleHold(taken.request.requestId, taken.request.payer.accountId, charge)
  }

  function settleTaken(taken: Taken, charge: Charge): Promise<Settlement> {
    const { inputTokens, outputTokens } = charge
    const cost = costOf(taken.request.price, inputTokens, outputTokens)
    // An allowance covers no more than the hold: only till() can tell what else the credit and the limits cover.
    if (cost > taken.cost || inputTokens + outputTokens > tokensOf(taken.request)) return settleBeyond(taken, charge)
    const ending = { taken, charge: { cost, tokens: inputTokens + outputTokens } }
    return end(ending, chargeRow(taken.request, charge, cost)).then((done) => {
      // An instance that has just started anew knows of no account, and a reply that is charged leaves all the same.
      const levels = allowances.levels(taken.request.payer.accountId) ?? taken.levels
      if (!done || levels === undefined) throw givenUp()
      return { cost, inputTokens, outputTokens, levels }
    })
  }

  async function settleHold(requestId: string, accountId: string, charge: Charge) {
    const row = await settle(requestId, accountId, {
      input: charge.inputTokens,
      output: charge.outputTokens,
      stop: charge.stopReason,
      source: charge.source,
      ...charge.storedReply?.(charge),
    })
    const levels = levelsAfter(row)
    if (row?.cost === undefined || row.cost === null || levels === undefined) throw givenUp()
    const inputTokens = row.charged_input ?? charge.inputTokens
    const outputTokens = row.charged_output ?? charge.outputTokens
    const cut = charge.inputTokens + charge.outputTokens - inputTokens - outputTokens
    if (cut > 0) {
      unchargedTokens += cut
      log.warn(
        { request_id: requestId, tokens: cut },
        'a model used more than its hold, and more than could be charged',
      )
      const corrected = charge.storedReply?.({ inputTokens, outputTokens })
      if (corrected) await updateStoredReply(database, accountId, requestId, corrected)
    }
    return { cost: row.cost, inputTokens, outputTokens, levels }
  }

  async function release(requestId: string, accountId: string): Promise<Levels | undefined> {
    const taken = allowances.taken(requestId)
    if (taken === undefined) return levelsAfter(await settle(requestId, accountId, {}))
    return (await end({ taken }, undefined)) ? allowances.levels(accountId) : undefined
  }

  async function reprice(request: AdmissionRequest): Promise<Levels> {
    const { requestId, payer } = request
    // Both are in one call, or the release is in the earlier one. A call settles and releases before it admits.
    const [, row] = await Promise.all([
      release(requestId, payer.accountId),
      admit({ ...admission(request), requests: 0 }),
    ])
    const levels = levelsAfter(row)
    if (row?.outcome === 'admitted' && levels) return levels
    throw refusalOf(row, tokensOf(request))
  }

  const readLevels = async (accountId: string) => levelsAfter(await take(randomUUID(), accountId, 0))

  return Object.freeze({
    async admit(request: AdmissionRequest): Promise<Admission> {
      const taken = request.idempotency === undefined ? allowances.take(request) : undefined
      if (taken !== undefined) return { kind: 'admitted', levels: taken }
      const row = await admit(admission(request))
      const levels = levelsAfter(row)
      if (row?.outcome === 'admitted' && levels) return { kind: 'admitted', levels }
      if (row?.outcome === 'replay' && row.body !== null && row.original !== null && levels) {
        const { original: originalRequestId, headers, body } = row
        return { kind: 'replay', originalRequestId, headers: headers ?? {}, body, levels }
      }
      throw refusalOf(row, tokensOf(request))
    },

    async replay(accountId: string, idempotency: Idempotency | undefined): Promise<Replay | undefined> {
      const stored = idempotency && (await readStoredReply(database, accountId, idempotency))
      const levels = stored && (await readLevels(accountId))
      return levels && { kind: 'replay', ...stored, levels }
    },

    reprice,

    settle(requestId: string, accountId: string, charge: Charge) {
      const taken = allowances.taken(requestId)
      return taken === undefined ? settleHold(requestId, accountId, charge) : settleTaken(taken, charge)
    },

    release,

    async takeRequest(requestId: string, accountId: string) {
      const row = await take(requestId, accountId, 1)
      const levels = levelsAfter(row)
      if (row?.outcome === 'admitted' && levels) return levels
      throw refusalOf(row, 0)
    },

    levels: readLevels,

    unchargedTokens: () => unchargedTokens,

    drain: () => batches.drain(),
  })
}

const tokensOf = (request: AdmissionRequest): number => request.inputTokens + request.maxOutputTokens

const givenUp = (): Problem =>
  new Problem('unavailable', 'The request took too long and was given up, uncharged. Try again.', { retryAfter: 1 })

/** What another moment or less at hand elsewhere may put right. */
const scarce: ReadonlySet<string> = new Set(['credit_held', 'requests', 'tokens'])

interface AdmissionPayload {
  readonly hold: string
  readonly account: string
  readonly requests: 0 | 1
  readonly [field: string]: unknown
}

const admission = ({ payer, ...request }: AdmissionRequest): AdmissionPayload => ({
  hold: request.requestId,
  account: payer.accountId,
  key: payer.keyId,
  person: payer.personId,
  model: request.model,
  client: payer.clientId,
  input: request.inputTokens,
  output: request.maxOutputTokens,
  input_price: String(request.price.input),
  output_price: String(request.price.output),
  idem: request.idempotency?.key,
  hash: request.idempotency?.hash,
  requests: 1,
})
