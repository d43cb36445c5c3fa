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
import { readStoredAnswer } from './stored-answer.ts'

export { Refusal, type Level, type Levels } from './limits.ts'

/** What a request asks of the till before a model is called. */
export interface Ask {
  /** A UUID; the hold and later the ledger row carry it. */
  readonly requestId: string
  readonly accountId: string
  readonly keyId: string
  readonly model: string
  /** The client record that the cost is attributed to. */
  readonly clientId?: string | undefined
  readonly inputTokens: number
  readonly maxOutputTokens: number
  readonly price: Price
  /** `hash` tells whether a repeated request is the same request. */
  readonly idempotency?: { readonly key: string; readonly hash: string } | undefined
}

/** The answer that a repeated request gets again. */
export interface Answer {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Admission = { readonly kind: 'admitted'; readonly levels: Levels } | Replay
export type Replay = { readonly kind: 'replay'; readonly levels: Levels } & Answer

/** What a request used, as it is written to the ledger. */
export interface Charge {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly stopReason: StopReason
  readonly source: UsageSource
  /** Kept for 24 hours if the request had an idempotency key. */
  readonly answer?: Answer
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
  admit(ask: Ask): Promise<Admission>
  /** The stored answer to a repeated request, where nobody can say what it would cost. Undefined when there is none. */
  replay(ask: Pick<Ask, 'requestId' | 'accountId' | 'idempotency'>): Promise<Replay | undefined>
  /**
   * Holds anew what is held, at another model and price, before that model is called. Takes no further request from the
   * limit. Throws Refusal, and nothing is held any more.
   */
  reprice(ask: Ask): Promise<Levels>
  /**
   * Charges what was used and gives back the rest. The reply may leave only after this. Throws Problem `unavailable`
   * when the hold was given up meanwhile: nothing is charged and the reply must not leave.
   */
  settle(requestId: string, charge: Charge): Promise<{ readonly cost: bigint; readonly levels: Levels }>
  /** Gives back everything but the request itself. Undefined when there was no hold any more. */
  release(requestId: string): Promise<Levels | undefined>
  /** Takes one request from the limit. Throws Refusal. */
  takeRequest(requestId: string, accountId: string): Promise<Levels>
  /** How the limits stand. Undefined when there is no such account. */
  levels(requestId: string, accountId: string): Promise<Levels | undefined>
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
  const batches = await openBatches({ database, allowances, log })

  const settle = (requestId: string, payload: object) =>
    batches.send('settle', { hold: requestId, ...payload }, settlementPatience)

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

  function settleTaken(taken: Taken, charge: Charge) {
    const { inputTokens, outputTokens } = charge
    const cost = costOf(taken.ask.price, inputTokens, outputTokens)
    const ending = { taken, charge: { cost, tokens: inputTokens + outputTokens } }
    return end(ending, chargeRow(taken.ask, charge, cost)).then((done) => {
      // An instance that has just started anew knows of no account, and a reply that is charged leaves all the same.
      const levels = allowances.levels(taken.ask.accountId) ?? taken.levels
      if (!done || levels === undefined) throw givenUp()
      return { cost, levels }
    })
  }

  async function settleHold(requestId: string, charge: Charge) {
    const row = await settle(requestId, {
      input: charge.inputTokens,
      output: charge.outputTokens,
      stop: charge.stopReason,
      source: charge.source,
      ...charge.answer,
    })
    const levels = levelsAfter(row)
    if (row?.cost === undefined || row.cost === null || levels === undefined) throw givenUp()
    return { cost: row.cost, levels }
  }

  async function release(requestId: string): Promise<Levels | undefined> {
    const taken = allowances.taken(requestId)
    if (taken === undefined) return levelsAfter(await settle(requestId, {}))
    return (await end({ taken }, undefined)) ? allowances.levels(taken.ask.accountId) : undefined
  }

  const standingOf = async (requestId: string, accountId: string) => levelsAfter(await take(requestId, accountId, 0))

  return Object.freeze({
    async admit(ask: Ask): Promise<Admission> {
      const taken = ask.idempotency === undefined ? allowances.take(ask) : undefined
      if (taken !== undefined) return { kind: 'admitted', levels: taken }
      const row = await admit(admission(ask))
      const levels = levelsAfter(row)
      if (row?.outcome === 'admitted' && levels) return { kind: 'admitted', levels }
      if (row?.outcome === 'replay' && row.body !== null && levels) {
        return { kind: 'replay', headers: row.headers ?? {}, body: row.body, levels }
      }
      throw refusalOf(row, ask.inputTokens + ask.maxOutputTokens)
    },

    async replay({ requestId, accountId, idempotency }: Parameters<Till['replay']>[0]): Promise<Replay | undefined> {
      const answer = idempotency && (await readStoredAnswer(database, accountId, idempotency))
      const standing = answer && (await standingOf(requestId, accountId))
      return standing && { kind: 'replay', headers: answer.headers, body: answer.body, levels: standing }
    },

    async reprice(ask: Ask): Promise<Levels> {
      // Both go with one call, or the release goes with an earlier one: it is carried out before what asks to be admitted.
      const [, row] = await Promise.all([release(ask.requestId), admit({ ...admission(ask), requests: 0 })])
      const levels = levelsAfter(row)
      if (row?.outcome === 'admitted' && levels) return levels
      throw refusalOf(row, ask.inputTokens + ask.maxOutputTokens)
    },

    settle(requestId: string, charge: Charge) {
      const taken = allowances.taken(requestId)
      return taken === undefined ? settleHold(requestId, charge) : settleTaken(taken, charge)
    },

    release,

    async takeRequest(requestId: string, accountId: string) {
      const row = await take(requestId, accountId, 1)
      const levels = levelsAfter(row)
      if (row?.outcome === 'admitted' && levels) return levels
      throw refusalOf(row, 0)
    },

    levels: standingOf,

    drain: () => batches.drain(),
  })
}

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

const admission = (ask: Ask): AdmissionPayload => ({
  hold: ask.requestId,
  account: ask.accountId,
  key: ask.keyId,
  model: ask.model,
  client: ask.clientId,
  input: ask.inputTokens,
  output: ask.maxOutputTokens,
  input_price: String(ask.price.input),
  output_price: String(ask.price.output),
  idem: ask.idempotency?.key,
  hash: ask.idempotency?.hash,
  requests: 1,
})
