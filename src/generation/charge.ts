import type { Logger } from 'pino'
import type { Charge } from '../billing/till.ts'
import type { Usage } from '../models/model.ts'
import type { Candidate } from './candidate.ts'
import type { Outcome } from './outcome.ts'
import { storedReplyOf } from './reply.ts'
import type { Job } from './request.ts'

/** What the till charges for an outcome. Only a complete reply is stored for retries. */
export function chargeOf(job: Job, candidate: Candidate, outcome: Outcome, log: Logger): Charge {
  const { stopReason } = outcome
  const isStored = job.idempotency !== undefined && stopReason !== 'cancelled' && stopReason !== 'error'
  return {
    ...withinHold(job, candidate, outcome.usage, log),
    stopReason,
    storedReply: isStored ? (charged) => storedReplyOf(candidate.offer.model.id, outcome, charged) : undefined,
  }
}

/** A model may report more tokens than it counted before the run. */
function withinHold({ requestId }: Job, held: Candidate, usage: Usage, log: Logger): Usage {
  if (usage.inputTokens <= held.inputTokens && usage.outputTokens <= held.maxOutputTokens) return usage
  const inputTokens = Math.min(usage.inputTokens, held.inputTokens)
  const outputTokens = Math.min(usage.outputTokens, held.maxOutputTokens)
  const { inputTokens: input, outputTokens: output } = usage
  const fields = { request_id: requestId, model: held.offer.model.id, used: { input, output } }
  log.warn({ ...fields, charged: { input: inputTokens, output: outputTokens } }, 'a model used more than was held')
  return { inputTokens, outputTokens, source: usage.source }
}
