import type { Batch, BatchDialect, BatchStatus } from './batch.ts'
import { shownRequestId } from './ids.ts'

/** A response to a line, as the API of its dialect gives it. */
export interface LineResponse {
  readonly customId: string
  readonly requestId: string
  readonly status: number
  /** As JSON. */
  readonly body: string
}

/** A result as it is downloaded: one line. */
export function resultLine(dialect: BatchDialect, { customId, requestId, status, body }: LineResponse): string {
  const name = JSON.stringify(customId)
  if (dialect === 'openai') {
    const id = shownRequestId(requestId)
    return `{"id":"${id}","custom_id":${name},"response":{"status_code":${status},"request_id":"${requestId}","body":${body}},"error":null}`
  }
  return status === 200
    ? `{"custom_id":${name},"result":{"type":"succeeded","message":${body}}}`
    : `{"custom_id":${name},"result":{"type":"errored","error":${body}}}`
}

/** Why a line was not run, in OpenAI's words. */
const unrun: Readonly<Partial<Record<BatchStatus, readonly [code: string, message: string]>>> = {
  cancelled: ['batch_cancelled', 'The batch was cancelled before this request was made. It was not charged.'],
  failed: ['batch_failed', 'The batch ended before this request was made. It was not charged.'],
  expired: ['batch_expired', 'The batch expired before this request was made. It was not charged.'],
}

/** The result of a line that was not run when its batch ended. */
export function unrunResult({ dialect, id, status }: Batch, number: number, customId: string): string {
  const name = JSON.stringify(customId)
  if (dialect === 'anthropic') {
    return `{"custom_id":${name},"result":{"type":"${status === 'expired' ? 'expired' : 'canceled'}"}}`
  }
  const [code, message] = unrun[status] ?? ['batch_failed', 'This request was not made.']
  return JSON.stringify({
    id: `${shownRequestId(id)}_${number}`,
    custom_id: customId,
    response: null,
    error: { code, message },
  })
}
