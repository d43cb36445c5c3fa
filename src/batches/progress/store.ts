import type { Queryable } from '../../platform/database/database.ts'
import type { BatchProgress } from '../batch.ts'

// Developers may read these columns of a batch, and no others.
const fields = `id, account_id as "accountId", dialect, status, lines, succeeded, failed, created_at as "createdAt", expires_at as "expiresAt",
  ended_at as "endedAt", case when results_until > clock_timestamp() then results_until end as "resultsUntil",
  case when ended_at is null and next_at > clock_timestamp() then waits_for end as "waitsFor"`

/** Those that are open, and those that ended in the last 7 days. */
export function readRecent(database: Queryable, accountId: string | undefined): Promise<BatchProgress[]> {
  return database.rows(
    `select ${fields} from batch
     where status <> 'arriving' and (ended_at is null or ended_at > now() - interval '7 days') and ($1::uuid is null or account_id = $1)
     order by id desc`,
    [accountId],
  )
}

interface PageOf {
  readonly accountId: string
  readonly before: string | undefined
  readonly limit: number
}

export function readPage(reader: Queryable, { accountId, before, limit }: PageOf): Promise<BatchProgress[]> {
  return reader.rows(
    `select ${fields} from batch where account_id = $1 and status <> 'arriving' and ($2::uuid is null or id < $2) order by id desc limit $3`,
    [accountId, before, limit],
  )
}

interface BatchOf {
  readonly accountId: string
  readonly id: string
}

export async function readOne(database: Queryable, { accountId, id }: BatchOf): Promise<BatchProgress | undefined> {
  const [row] = await database.rows<BatchProgress>(
    `select ${fields} from batch where id = $1 and account_id = $2 and status <> 'arriving'`,
    [id, accountId],
  )
  return row
}

/** Undefined if there is no such batch, or none that runs. */
export async function cancel(tx: Queryable, { accountId, id }: BatchOf): Promise<BatchProgress | undefined> {
  const [row] = await tx.rows<BatchProgress>(
    `update batch set status = 'cancelling', cancelling_at = clock_timestamp() where id = $1 and account_id = $2 and status = 'in_progress'
     returning ${fields}`,
    [id, accountId],
  )
  return row
}

export async function isAccount(reader: Queryable, id: string): Promise<boolean> {
  const rows = await reader.rows('select id from account where id = $1', [id])
  return rows.length > 0
}
