import { backgroundKey } from '../billing/till/till.ts'
import type { QueuedUrl } from '../generation/calls/queued-calls.ts'
import type { ProblemCode } from '../platform/problems.ts'

/** The API in whose form a batch was sent, and its results are downloaded. */
export type BatchDialect = 'openai' | 'anthropic'

export type BatchStatus = 'in_progress' | 'cancelling' | 'completed' | 'failed' | 'cancelled' | 'expired'

/** Why a batch was refused or ended, without any text of a customer. */
export interface BatchFault {
  readonly code: ProblemCode
  /** The line of the file, or the request of the list. The first is 1. Null: it concerns the batch. */
  readonly line: number | null
  readonly field: string | null
  readonly reason: string
}

/** Requests that a caller has queued together. */
export interface Batch {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly dialect: BatchDialect
  readonly endpoint: QueuedUrl
  readonly fileId: string | null
  /** Encrypted. */
  readonly metadata: Buffer | null
  readonly status: BatchStatus
  readonly errors: readonly BatchFault[] | null
  readonly lines: number
  readonly succeeded: number
  readonly failed: number
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly cancellingAt: Date | null
  readonly endedAt: Date | null
  /** Until when its results are kept. Null: they are gone, or it has not ended. */
  readonly resultsUntil: Date | null
  /** The ids under which its replies, and its errors, are files. Null: there are none. */
  readonly outputId: string | null
  readonly errorId: string | null
  /** What it waits for. Null: nothing, or it has ended. */
  readonly waitsFor: 'limits' | 'credit' | 'model' | null
}

/** How far a batch is, for those who answer for its account: counts, and nothing of its lines. */
export type BatchProgress = Pick<
  Batch,
  | 'id'
  | 'accountId'
  | 'dialect'
  | 'status'
  | 'lines'
  | 'succeeded'
  | 'failed'
  | 'createdAt'
  | 'expiresAt'
  | 'endedAt'
  | 'resultsUntil'
  | 'waitsFor'
>

/** A file of lines for a batch. */
export interface BatchFile {
  readonly id: string
  readonly name: string
  readonly purpose: 'batch' | 'batch_output'
  readonly bytes: number
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** Lines to send. */
export interface Download {
  /** Each is one line or several, with their ends. */
  readonly lines: AsyncIterable<string>
  /** To be called when the last of them has been sent. */
  readonly onEnd: () => Promise<void>
}

/** The contexts in which texts of batches are encrypted: each belongs to its account and its place. */
export const contexts = {
  fileName: (accountId: string, id: string): string => `name of file ${id} of account ${accountId}`,
  /** `source`: the file, or the batch whose lines came with the request. */
  line: (accountId: string, source: string, number: number): string =>
    `line ${number} of ${source} of account ${accountId}`,
  metadata: (accountId: string, id: string): string => `metadata of batch ${id} of account ${accountId}`,
  result: (accountId: string, id: string, number: number): string =>
    `result ${number} of batch ${id} of account ${accountId}`,
}

/** The idempotency key of a line, under which the till stores its reply with its charge. */
export const lineKey = (batchId: string, number: number | string): string =>
  backgroundKey(`line ${number} of batch ${batchId}`)
