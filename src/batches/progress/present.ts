import { shownBatchIds } from '../ids.ts'
import type { BatchProgress } from '../batch.ts'
import type { BatchShown } from './schema.ts'

export function presentProgress(batch: BatchProgress): BatchShown {
  const { id, accountId, dialect, status, lines, succeeded, failed, createdAt, expiresAt, waitsFor } = batch
  return {
    batch_id: shownBatchIds[dialect](id),
    account_id: accountId,
    dialect,
    status,
    lines,
    succeeded,
    failed,
    waits_for: waitsFor,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    ended_at: batch.endedAt?.toISOString() ?? null,
    results_until: batch.resultsUntil?.toISOString() ?? null,
  }
}
