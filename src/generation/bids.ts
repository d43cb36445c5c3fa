import type { Caller } from '../accounts/keys.ts'
import type { Catalogue, Offer } from '../models/catalogue.ts'
import { Problem, type ProblemCode } from '../platform/problems.ts'
import { choose, mostOutput } from './choice.ts'
import type { TextRequest } from './request.ts'

/** A model for a request, and the most that the request can use there: what is held. */
export interface Bid {
  readonly offer: Offer
  readonly inputTokens: number
  /** Whether the input has so many tokens, or at most so many. */
  readonly exact: boolean
  readonly maxOutputTokens: number
}

/** The models that may serve one request: the one it names, and those that this one falls back on. Each is asked once. */
export interface Bids {
  /** The first. Throws a Problem. */
  first(): Promise<Bid>
  /** The one in place of `failed`, which failed before its first piece; undefined when there is none. */
  next(failed: Offer, error: unknown): Promise<Bid | undefined>
}

/** What another model may be able to do all the same. */
const passing: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'upstream_failed',
  'upstream_timeout',
  'unavailable',
  'overloaded',
])

/** Whether that is for the moment, and says nothing of the request. */
export const isPassing = (error: unknown): boolean => error instanceof Problem && passing.has(error.code)

/** `signal` aborts when the caller goes away: then nobody else is asked. */
export function createBids(catalogue: Catalogue, caller: Caller, request: TextRequest, signal: AbortSignal): Bids {
  const asked = new Set<string>()

  async function bid(offer: Offer): Promise<Bid> {
    asked.add(offer.model.id)
    try {
      const input = await offer.model.count(request.prompt, signal)
      const maxOutputTokens = mostOutput(offer, request, input)
      return { offer, inputTokens: input.tokens, exact: input.exact, maxOutputTokens }
    } catch (error) {
      const other = await next(offer, error)
      if (other) return other
      throw error
    }
  }

  /** A fall-back that the caller may not use, or that cannot take the request, is none. */
  async function next({ fallback }: Offer, error: unknown): Promise<Bid | undefined> {
    if (!isPassing(error) || signal.aborted || fallback === undefined) return undefined
    try {
      const offer = choose(catalogue, caller, request, fallback)
      return asked.has(offer.model.id) ? undefined : await bid(offer)
    } catch (refusal) {
      if (refusal instanceof Problem) return undefined
      throw refusal
    }
  }

  return Object.freeze({ first: async () => bid(choose(catalogue, caller, request)), next })
}
