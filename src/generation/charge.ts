import type { Charge } from '../billing/till/till.ts'
import type { Candidate } from './candidate.ts'
import type { Outcome } from './outcome.ts'
import { chargedTokensOf, storedReplyOf } from './reply.ts'
import type { Work } from './work.ts'

/** What the till charges for an outcome. Only a complete reply is stored, or what a job had when it was stopped. */
export function chargeOf(job: Work, { offer }: Candidate, outcome: Outcome): Charge {
  const { stopReason, usage } = outcome
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = chargedTokensOf(usage)
  const isStored =
    job.idempotency !== undefined && stopReason !== 'error' && (stopReason !== 'cancelled' || job.stop !== undefined)
  const storedReply = isStored ? storedReplyOf(offer.model.id, outcome) : undefined
  const milliseconds = Math.round(performance.now() - job.startedAt)
  return {
    inputTokens,
    outputTokens,
    cachedTokens,
    cacheWriteTokens,
    stopReason,
    source: usage.source,
    milliseconds,
    tags: job.request.tags,
    storedReply,
  }
}
