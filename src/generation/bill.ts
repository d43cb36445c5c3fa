import type { Logger } from 'pino'
import { costOf } from '../billing/prices.ts'
import type { AdmissionRequest, Charge } from '../billing/till.ts'
import type { Bid } from './bids.ts'
import type { Outcome } from './outcome.ts'
import { madeReply, type Reply } from './reply.ts'

/** What an outcome comes to: the reply, and what the till is to charge for it. */
export interface Bill {
  readonly reply: Omit<Reply, 'levels'>
  readonly charge: Charge
}

/** At the price of the bid, and never for more than was held for it. */
export function billOf(
  request: Pick<AdmissionRequest, 'requestId' | 'idempotency'>,
  bid: Bid,
  made: Outcome,
  log: Logger,
): Bill {
  const { requestId, idempotency } = request
  const outcome = withinHold(requestId, bid, made, log)
  const { inputTokens, outputTokens, source } = outcome.usage
  const { model, price } = bid.offer
  const reply = madeReply(requestId, model.id, outcome, costOf(price, inputTokens, outputTokens))
  const { stopReason, headers, body } = reply
  // Nobody has seen a whole answer of a request that was cancelled or broke off: its Idempotency-Key is free again.
  const isWhole = stopReason !== 'cancelled' && stopReason !== 'error'
  const kept = idempotency !== undefined && isWhole && { storedReply: () => ({ headers, body }) }
  return { reply, charge: { inputTokens, outputTokens, stopReason, source, ...kept } }
}

/** A model may count otherwise than it had said. */
function withinHold(requestId: string, bid: Bid, outcome: Outcome, log: Logger): Outcome {
  const { inputTokens, outputTokens } = outcome.usage
  if (inputTokens <= bid.inputTokens && outputTokens <= bid.maxOutputTokens) return outcome
  log.warn(
    { request_id: requestId, held: [bid.inputTokens, bid.maxOutputTokens], used: [inputTokens, outputTokens] },
    'a model used more than was held: the charge is what was held',
  )
  const usage = {
    ...outcome.usage,
    inputTokens: Math.min(inputTokens, bid.inputTokens),
    outputTokens: Math.min(outputTokens, bid.maxOutputTokens),
  }
  return { ...outcome, usage }
}
