import type { Static } from 'typebox'
import type { Batch, BatchFile } from '../batch.ts'
import { shownBatchIds, shownFileId } from '../ids.ts'
import type { batchObject, fileObject } from './schema.ts'

const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1000)
const timeIf = (applies: boolean, time: Date | null): number | null => (applies && time ? secondsOf(time) : null)

export function presentFile({ id, bytes, createdAt, expiresAt, name, purpose }: BatchFile): Static<typeof fileObject> {
  return {
    id: shownFileId(id),
    object: 'file',
    bytes,
    created_at: secondsOf(createdAt),
    expires_at: secondsOf(expiresAt),
    filename: name,
    purpose,
    status: 'processed',
  }
}

export function presentBatch(
  batch: Batch,
  metadata: Readonly<Record<string, string>> | null,
): Static<typeof batchObject> {
  const { status, createdAt, endedAt, errors, lines, succeeded, outputId, errorId } = batch
  const data = errors?.map(({ code, line, reason, field }) => ({ code, line, message: reason, param: field }))
  const wasQueued = lines > 0
  return {
    id: shownBatchIds.openai(batch.id),
    object: 'batch',
    endpoint: batch.endpoint,
    errors: data ? { object: 'list', data } : null,
    input_file_id: shownFileId(batch.fileId ?? batch.id),
    completion_window: '24h',
    status,
    output_file_id: outputId && shownFileId(outputId),
    error_file_id: errorId && shownFileId(errorId),
    created_at: secondsOf(createdAt),
    in_progress_at: timeIf(wasQueued, createdAt),
    expires_at: secondsOf(batch.expiresAt),
    finalizing_at: timeIf(wasQueued, endedAt),
    completed_at: timeIf(status === 'completed', endedAt),
    failed_at: timeIf(status === 'failed', endedAt),
    expired_at: timeIf(status === 'expired', endedAt),
    cancelling_at: timeIf(true, batch.cancellingAt),
    cancelled_at: timeIf(status === 'cancelled', endedAt),
    // What was not made when it ended is in the file of errors.
    request_counts: { total: lines, completed: succeeded, failed: endedAt ? lines - succeeded : batch.failed },
    metadata: metadata && { ...metadata },
  }
}
