import type { Queryable } from '../platform/database/database.ts'
import type { Batch, BatchDialect, BatchFault } from './batch.ts'
import { mostRead } from './files-store.ts'

const fields = `id, account_id as "accountId", key_id as "keyId", dialect, endpoint, file_id as "fileId", metadata, status, errors, lines,
  succeeded, failed, created_at as "createdAt", expires_at as "expiresAt", cancelling_at as "cancellingAt", ended_at as "endedAt",
  case when results_until > clock_timestamp() then results_until end as "resultsUntil", output_id as "outputId", error_id as "errorId",
  case when ended_at is null and next_at > clock_timestamp() then waits_for end as "waitsFor"`

export interface NewBatchRow {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly dialect: BatchDialect
  readonly endpoint: string
  readonly fileId: string | null
  readonly metadata: Buffer | null
  readonly windowSeconds: number
  /** Those of its file. */
  readonly bytes: bigint
  /** How long its results are kept: an interval of PostgreSQL, or fewer seconds. */
  readonly kept: string
  readonly keptSeconds: number | null
}

/** Serialises the new batches of an account until the transaction ends. */
export async function lockNewBatches(tx: Queryable, accountId: string): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('batches ' || $1, 0))`, [accountId])
}

/** Begins a batch that nobody sees yet. */
export async function insertBatch(database: Queryable, batch: NewBatchRow): Promise<void> {
  const { id, accountId, keyId, dialect, endpoint, fileId, metadata, windowSeconds, bytes, kept, keptSeconds } = batch
  await database.rows(
    `insert into batch (id, account_id, key_id, dialect, endpoint, file_id, metadata, expires_at, bytes, kept)
     values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + make_interval(secs => $8), $9, least($10::interval, make_interval(secs => $11)))`,
    [id, accountId, keyId, dialect, endpoint, fileId, metadata, windowSeconds, bytes, kept, keptSeconds],
  )
}

/** Lets instances take its lines. Those of a client that was erased meanwhile are not there. */
export async function publishBatch(database: Queryable, id: string, bytes: number): Promise<Batch | undefined> {
  const [row] = await database.rows<Batch>(
    `update batch set status = 'in_progress', lines = (select count(*) from batch_line where batch_id = $1), bytes = $2
     where id = $1 and status = 'arriving' returning ${fields}`,
    [id, bytes],
  )
  return row
}

/** Ends a batch that was refused. It has no lines. */
export async function refuseBatch(
  database: Queryable,
  id: string,
  errors: readonly BatchFault[],
): Promise<Batch | undefined> {
  await database.rows('delete from batch_line where batch_id = $1', [id])
  const [row] = await database.rows<Batch>(
    `update batch set status = 'failed', lines = 0, failed = 0, errors = $2, ended_at = clock_timestamp() where id = $1 and status = 'arriving' returning ${fields}`,
    [id, JSON.stringify(errors)],
  )
  return row
}

/** Forgets a batch whose lines have not all arrived. */
export async function dropBatch(database: Queryable, id: string): Promise<void> {
  await database.rows(`delete from batch where id = $1 and status = 'arriving'`, [id])
}

/** A batch of the account, in this dialect. */
export async function readBatch(
  database: Queryable,
  { accountId, dialect }: { readonly accountId: string; readonly dialect: BatchDialect },
  id: string,
): Promise<Batch | undefined> {
  const [row] = await database.rows<Batch>(
    `select ${fields} from batch where id = $1 and account_id = $2 and dialect = $3 and status <> 'arriving'`,
    [id, accountId, dialect],
  )
  return row
}

/** A batch with results that are a file. */
export interface BatchOfOutput extends Batch {
  /** The bytes of the file, without lines that were not run. */
  readonly outputBytes: bigint
  /** The bytes in which those lines are stored. */
  readonly unrunBytes: bigint
}

/** The batch with the output or the errors that are a file with this id. */
export async function readBatchOfOutput(
  database: Queryable,
  accountId: string,
  fileId: string,
): Promise<BatchOfOutput | undefined> {
  const [row] = await database.rows<BatchOfOutput>(
    `select ${fields}, stored.* from batch, lateral (
       select coalesce(sum(octet_length(result) - 27), 0) as "outputBytes",
         coalesce(sum(octet_length(content)) filter (where result is null), 0) as "unrunBytes"
       from batch_line where batch_id = batch.id and (state = 'succeeded') = (output_id is not distinct from $2)) stored
     where (output_id = $2 or error_id = $2) and account_id = $1 and results_until > clock_timestamp()`,
    [accountId, fileId],
  )
  return row
}

/** One page of the batches of an account, the newest first; those before `before` are newer. */
export async function readBatches(
  database: Queryable,
  { accountId, dialect }: { readonly accountId: string; readonly dialect: BatchDialect },
  {
    after,
    before,
    limit,
  }: { readonly after?: string | undefined; readonly before?: string | undefined; readonly limit: number },
): Promise<Batch[]> {
  const rows = await database.rows<Batch>(
    `select ${fields} from batch
     where account_id = $1 and dialect = $2 and status <> 'arriving' and ($3::uuid is null or id < $3) and ($4::uuid is null or id > $4)
     order by id ${before === undefined ? 'desc' : 'asc'} limit $5`,
    [accountId, dialect, after, before, limit],
  )
  return before === undefined ? rows : rows.toReversed()
}

/** How many batches of the account have not ended. */
export async function countOpenBatches(database: Queryable, accountId: string): Promise<bigint> {
  const [row] = await database.rows<{ count: bigint }>(
    'select count(*) from batch where account_id = $1 and ended_at is null',
    [accountId],
  )
  return row?.count ?? 0n
}

/** Running lines continue; queued lines are not begun. Undefined if there is no such batch. */
export async function cancelBatch(
  database: Queryable,
  of: { readonly accountId: string; readonly dialect: BatchDialect },
  id: string,
): Promise<Batch | undefined> {
  await database.rows(
    `update batch set status = 'cancelling', cancelling_at = clock_timestamp()
     where id = $1 and account_id = $2 and dialect = $3 and status = 'in_progress'`,
    [id, of.accountId, of.dialect],
  )
  return readBatch(database, of, id)
}

/** A line of a batch that has ended, encrypted: its result, or what it was if it was not run. */
export interface EndedLine {
  readonly number: number
  readonly state: 'queued' | 'succeeded' | 'failed'
  readonly content: Buffer | null
  readonly result: Buffer | null
}

/** The next lines after `after`: those with a reply, the others, or all. */
export function readResults(
  database: Queryable,
  batchId: string,
  { after, part }: { readonly after: number; readonly part: 'output' | 'errors' | 'all' },
): Promise<EndedLine[]> {
  return database.rows(
    `select number, state, content, result from (
       select number, state, content, result,
         sum(bytes) over (order by number) - bytes as before
       from (
         select number, state, content, result, coalesce(octet_length(result), octet_length(content), 0) as bytes
         from batch_line where batch_id = $1 and number > $2 and ($3 = 'all' or (state = 'succeeded') = ($3 = 'output'))
         order by number limit 500) l) l
     where before < $4 order by number`,
    [batchId, after, part, mostRead],
  )
}

/** Once all results were downloaded, they are kept for another day, in case the end of a download got lost. */
export async function noteDownload(database: Queryable, id: string, part: 'output' | 'errors' | 'all'): Promise<void> {
  await database.rows(
    `update batch set output_read = output_read or $2 <> 'errors', errors_read = errors_read or $2 <> 'output' where id = $1`,
    [id, part],
  )
  await database.rows(
    `update batch set results_until = least(results_until, clock_timestamp() + interval '1 day')
     where id = $1 and (output_read or output_id is null) and (errors_read or error_id is null)`,
    [id],
  )
}

/** Removes the results of one part, or of all. */
export async function removeResults(database: Queryable, id: string, part: 'output' | 'errors'): Promise<void> {
  await database.rows(
    `with gone as (delete from batch_line where batch_id = $1 and (state = 'succeeded') = ($2 = 'output'))
     update batch set output_id = case when $2 <> 'output' then output_id end, error_id = case when $2 = 'output' then error_id end,
       results_until = case when num_nonnulls(output_id, error_id) = 2 then results_until end
     where id = $1 and ended_at is not null`,
    [id, part],
  )
}

/** Removes a batch that has ended. False if it has not. */
export async function deleteBatch(database: Queryable, id: string): Promise<boolean> {
  const rows = await database.rows('delete from batch where id = $1 and ended_at is not null returning 1', [id])
  return rows.length > 0
}
