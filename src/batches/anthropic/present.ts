import type { Static } from 'typebox'
import type { Batch } from '../batch.ts'
import { shownBatchIds } from '../ids.ts'
import type { messageBatch } from './schema.ts'

/** `baseUrl`: what the URL of the results starts with. */
export function presentMessageBatch(batch: Batch, baseUrl: string): Static<typeof messageBatch> {
  const { status, lines, succeeded, failed, createdAt, endedAt, resultsUntil } = batch
  const id = shownBatchIds.anthropic(batch.id)
  const rest = lines - succeeded - failed
  const isEnded = endedAt !== null
  return {
    id,
    type: 'message_batch',
    processing_status: isEnded ? 'ended' : status === 'cancelling' ? 'canceling' : 'in_progress',
    request_counts: {
      processing: isEnded ? 0 : rest,
      succeeded,
      errored: failed,
      canceled: isEnded && status !== 'expired' ? rest : 0,
      expired: isEnded && status === 'expired' ? rest : 0,
    },
    created_at: createdAt.toISOString(),
    expires_at: batch.expiresAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    cancel_initiated_at: batch.cancellingAt?.toISOString() ?? null,
    archived_at: null,
    results_url: isEnded && resultsUntil !== null ? `${baseUrl}/v1/messages/batches/${id}/results` : null,
  }
}
