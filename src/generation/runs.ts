import type { Bid, Bidding } from './bids.ts'
import { checked, read, type Outcome, type Texts } from './outcome.ts'
import { limitsOf } from './request.ts'

/** How a model is called: what comes of it, when it begins or is done. Throws the model's Problem. */
export type Run<Begun> = (bid: Bid, bidding: Bidding) => Promise<Begun>

/** A stream at its first text or, where it has none, at its end. */
interface Telling {
  readonly texts: AsyncGenerator<Texts, Outcome, void>
  readonly first: IteratorResult<Texts, Outcome>
}

export const whole: Run<Outcome> = ({ offer, maxOutputTokens }, { requestId, request, caller, signal }) =>
  offer.model
    .run(request.prompt, limitsOf(request, { maxOutputTokens, account: caller.accountId, requestId }), signal)
    .then((outcome) => checked(outcome, signal))

export const telling: Run<Telling> = async ({ offer, maxOutputTokens }, { requestId, request, caller, signal }) => {
  const limits = limitsOf(request, { maxOutputTokens, account: caller.accountId, requestId })
  const texts = read(offer.model.stream(request.prompt, limits, signal), signal)
  return { texts, first: await texts.next() }
}
