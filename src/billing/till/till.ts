import type { StopReason, UsageSource } from '../../models/model.ts'
import type { Levels } from './limits.ts'
import type { Payer, Tags } from '../payer.ts'
import type { Price } from '../prices/price.ts'
import type { ChargeTerms } from '../prices/terms.ts'
import type { ChargedTokens } from '../prices/tokens.ts'

export { TillRefusal, type Level, type Levels } from './limits.ts'
export { promptTokensOf, type ChargedTokens } from '../prices/tokens.ts'
export type { Tags } from '../payer.ts'

/** A request for admission, made before a model is called. */
export interface HoldRequest {
  /** A UUID. The hold and the ledger row have it as their id. */
  readonly requestId: string
  readonly payer: Payer
  readonly model: string
  /** The tokens of the prompt, whichever kind they turn out to be. */
  readonly inputTokens: number
  readonly maxOutputTokens: number
  /**
   * If given, the request gets as many of `maxOutputTokens` as the limits and the credit have room for, and is refused if that is fewer
   * than these.
   */
  readonly leastOutputTokens?: number | undefined
  /** The highest prices of its tokens that it can reach. */
  readonly price: Price
  /** What it can cost besides its tokens, in 10⁻¹² of the currency unit. Default 0. */
  readonly fixedCost?: bigint | undefined
  readonly idempotency?: Idempotency | undefined
}

/**
 * The idempotency key of a request in the background. It takes nothing from the limits per minute, since `takeSpare` has taken what it needs, and is
 * refused rather than hold more than half of the credit, or of a budget, that is free. No caller can send such a key: it has a space.
 */
export const backgroundKey = (name: string): string => `background ${name}`

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

export type Admission = Grant | Replay
export interface Grant {
  readonly kind: 'admitted'
  readonly levels: Levels
  /** The most output tokens that the hold has room for. */
  readonly maxOutputTokens: number
}
export type Replay = {
  readonly kind: 'replay'
  /** The request that the stored reply was made for. */
  readonly originalRequestId: string
  /** What the ledger says was charged for it: fewer tokens than the stored reply reports if not all could be charged. */
  readonly charged: ChargedTokens | undefined
  readonly levels: Levels
} & StoredReply

/** The tokens a request used, and what else the ledger records about it. */
export interface Charge extends ChargedTokens {
  readonly stopReason: StopReason
  readonly source: UsageSource
  /** From the start of the request to this charge. */
  readonly milliseconds: number
  readonly tags?: Tags | undefined
  /** How the rules of its price applied. Absent: the price has none, and is that of the hold. */
  readonly terms?: ChargeTerms | undefined
  /** The reply to store, if the request has an idempotency key. */
  readonly storedReply?: StoredReply | undefined
  /** Whether the caller already has the reply, as a stream: then the charge must be made, however long the database refuses it. */
  readonly received?: boolean | undefined
}

/**
 * A charge as the ledger records it. It has fewer tokens than were used if those exceeded the hold and neither the
 * credit nor the limits covered the rest. `cost` is in 10⁻¹² of the currency unit.
 */
export interface Settlement extends ChargedTokens {
  readonly cost: bigint
  readonly levels: Levels
}

/** What a request in the background took with `takeSpare`: the requests to return, the tokens that it asked for, and those it used. */
export interface TakenSpare {
  readonly requests: number
  readonly taken: number
  readonly used: number
}

/**
 * Holds and charges money and enforces limits. No limit and no credit is exceeded, over any number of instances and at any
 * concurrency, and what is admitted is charged once or not at all, whatever crashes (sections 7 and 8 of the
 * specification).
 *
 * Methods throw Problem `unavailable` if the database does not respond: within 4 s for `admit`, `precheck`, `storedReply`,
 * `reprice`, `takeRequest` and `levels`, within 30 s for `settle` and `release`.
 */
export interface Till {
  /**
   * Takes one request and its tokens from the limits and holds the most it can cost, or returns the reply stored for its
   * idempotency key. An admitted request must be settled or released. Throws TillRefusal.
   */
  admit(request: HoldRequest): Promise<Admission>
  /**
   * Whether a request could be admitted whose tokens are not counted yet: returns the stored reply of its idempotency key,
   * or throws the TillRefusal of the request with the fewest tokens that it can have. Takes nothing and writes nothing;
   * `admit` decides again.
   */
  precheck(least: HoldRequest): Promise<Replay | undefined>
  /**
   * The reply stored for an idempotency key, whatever has become of its account since. Undefined if there is none, or its request is in
   * flight.
   */
  storedReply(payer: Payer, key: string): Promise<Replay | undefined>
  /**
   * Replaces a request's hold by one for another model and price, before that model is called. Takes no further request
   * from the limit. Throws TillRefusal, and then nothing is held.
   */
  reprice(request: HoldRequest): Promise<Grant>
  /**
   * Charges the used tokens and returns the rest to the limits. The reply must not be sent before. Tokens beyond the hold
   * are charged as far as the credit and the limits allow. Throws Problem `unavailable` if the hold was released in the
   * meantime: nothing is charged and the reply must not be sent. Throws the error of the database if it refuses the charge; the hold
   * then stays. After either error a charge of a `received` reply is sent again, at most a minute later each time, until the database
   * accepts it or this instance stops.
   */
  settle(requestId: string, accountId: string, charge: Charge): Promise<Settlement>
  /** Returns all but the request itself to the limits. Returns undefined if the hold no longer exists. */
  release(requestId: string, accountId: string): Promise<Levels | undefined>
  /** Takes one request from the limit. Throws TillRefusal. */
  takeRequest(requestId: string, payer: Payer): Promise<Levels>
  /**
   * Takes one request and its tokens from what other requests have left of the limits: what their buckets had no room for. Returns 0 if it did, and
   * otherwise after how many milliseconds to ask again, at least.
   */
  takeSpare(payer: Payer, tokens: number): Promise<number>
  /** Returns what was taken with `takeSpare` and not used. */
  returnSpare(payer: Payer, spare: TakenSpare): Promise<void>
  /** Reads the levels of the limits, or undefined if the account does not exist. Writes nothing. */
  levels(payer: Payer): Promise<Levels | undefined>
  /** Tokens that this instance could not charge, because they exceeded the hold, the credit and the limits. */
  unchargedTokens(): number
  /** Settles what is queued and removes this instance. Call it when no request is in flight. */
  drain(): Promise<void>
}
