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

/** What another model may be able to do all the same. */
const passing: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'upstream_failed',
  'upstream_timeout',
  'unavailable',
  'overloaded',
])

/** Whether that is for the moment, and says nothing of the request. */
export const isPassing = (error: unknown): boolean => error instanceof Problem && passing.has(error.code)

/** Who asks for what. `signal` aborts when the caller goes away: then nobody else is asked. */
export interface Bidding {
  readonly requestId: string
  readonly caller: Caller
  readonly request: TextRequest
  readonly signal: AbortSignal
  /** The ids of the models that were asked; each is asked once. */
  readonly asked: string[]
}

/** The bid of the model that the request names, or of the first it falls back on that can bid. Throws a Problem. */
export function firstBid(catalogue: Catalogue, bidding: Bidding): Promise<Bid> {
  return bidOf(catalogue, bidding, choose(catalogue, bidding.caller, bidding.request))
}

/**
 * The bid in place of the offer that failed before its first piece; undefined when there is none. A fall-back that the
 * caller may not use, or that cannot take the request, is none.
 */
export async function nextBid(
  catalogue: Catalogue,
  bidding: Bidding,
  { fallback }: Offer,
  error: unknown,
): Promise<Bid | undefined> {
  const { caller, request, signal, asked } = bidding
  if (!isPassing(error) || signal.aborted || fallback === undefined) return undefined
  try {
    const offer = choose(catalogue, caller, request, fallback)
    return asked.includes(offer.model.id) ? undefined : await bidOf(catalogue, bidding, offer)
  } catch (refusal) {
    if (refusal instanceof Problem) return undefined
    throw refusal
  }
}

async function bidOf(catalogue: Catalogue, bidding: Bidding, offer: Offer): Promise<Bid> {
  const { requestId, request, signal, asked } = bidding
  asked.push(offer.model.id)
  try {
    const input = await offer.model.count(request.prompt, { signal, requestId })
    const maxOutputTokens = mostOutput(offer, request, input)
    return { offer, inputTokens: input.tokens, exact: input.exact, maxOutputTokens }
  } catch (error) {
    const other = await nextBid(catalogue, bidding, offer, error)
    if (other) return other
    throw error
  }
}
