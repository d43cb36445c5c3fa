import { recordWithin } from '../../access/audit/audit.ts'
import type { Visit } from '../../access/actor.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import type { BatchProgress } from '../batch.ts'
import { shownBatchIds } from '../ids.ts'
import * as store from './store.ts'

/** The batches that are open, and those that ended in the last 7 days, of one account or of all, the newest first. */
export function readRecentBatches(database: Queryable, accountId?: string): Promise<BatchProgress[]> {
  return store.readRecent(database, accountId)
}

interface PageAsked {
  readonly accountId: string
  /** Only batches that are older than this one. */
  readonly before: string | undefined
  readonly limit: number
}

/** One page of the batches of an account, the newest first. Throws Problem `not_found` if there is no such account. */
export async function readBatchPage(
  reader: Queryable,
  { accountId, before, limit }: PageAsked,
): Promise<{ readonly batches: readonly BatchProgress[]; readonly next: string | null }> {
  if (!(await store.isAccount(reader, accountId))) throw noAccount(accountId)
  const found = await store.readPage(reader, { accountId, before, limit: limit + 1 })
  const batches = found.slice(0, limit)
  return { batches, next: found.length > limit ? (batches.at(-1)?.id ?? null) : null }
}

/** Begins no more lines of a batch. Cancelled twice is cancelled. Throws Problem `not_found`, and `conflict` if it has ended. */
export function cancelForAccount(
  database: Database,
  of: { readonly accountId: string; readonly id: string },
  by: Visit,
): Promise<BatchProgress> {
  return database.transaction(async (tx) => {
    const cancelled = await store.cancel(tx, of)
    if (cancelled) {
      await recordWithin(tx, [cancelEvent(by, cancelled)])
      return cancelled
    }
    const batch = await store.readOne(tx, of)
    if (batch === undefined) throw new Problem('not_found', 'The account has no batch with this id.')
    if (batch.endedAt !== null) throw new Problem('conflict', `The batch has ended: it is ${batch.status}.`)
    return batch
  })
}

const cancelEvent = (by: Visit, { id, accountId, dialect }: BatchProgress) => ({
  ...by,
  action: 'account_batch_cancelled',
  outcome: 'allowed' as const,
  noun: 'account',
  nounId: accountId,
  details: { batch: shownBatchIds[dialect](id) },
})

export const noAccount = (id: string): Problem => new Problem('not_found', `No account has the id ${id}.`)
