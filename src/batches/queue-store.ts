import type { Database, Queryable } from '../platform/database/database.ts'
import { inSteps, rowsAtOnce } from '../platform/database/in-steps.ts'
import type { BatchDialect, BatchFault } from './batch.ts'
import type { QueuedUrl } from '../generation/calls/queued-calls.ts'

/** A batch with lines to take, or that must end. */
export interface DueBatch {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly publicId: string
  readonly dialect: BatchDialect
  readonly endpoint: QueuedUrl
  /** What its lines were encrypted as part of: its file, or itself. */
  readonly source: string
  readonly isEnding: boolean
}

/** The batches with lines to take, those of which none was taken for longest first. */
export function readDueBatches(database: Queryable, most: number): Promise<DueBatch[]> {
  return database.rows({
    name: 'due batches',
    text: `select b.id, b.account_id as "accountId", b.key_id as "keyId", k.public_id as "publicId", dialect, endpoint, coalesce(file_id, b.id) as source,
       status = 'cancelling' or b.expires_at <= clock_timestamp() as "isEnding"
     from batch b join api_key k on k.id = b.key_id
     where status in ('in_progress', 'cancelling') and next_at <= clock_timestamp() order by taken_at limit $1`,
    values: [most],
  })
}

/** A line that this instance has taken. */
export interface TakenLine {
  readonly number: number
  readonly content: Buffer
  readonly tries: number
  readonly requestId: string
  /** The request of an earlier try, if that may have been charged. */
  readonly previous: string | null
}

/**
 * Takes as many lines as there are ids; those that had to wait for their model or for credit come after those that did not. Of a batch that is ending, only those that were begun
 * before: they may be charged.
 */
export function takeLines(database: Queryable, batchId: string, requestIds: readonly string[]): Promise<TakenLine[]> {
  return database.rows({
    name: 'take lines',
    text: `with open as (
       -- Locks it, so that it does not end meanwhile.
       update batch set taken_at = clock_timestamp() where id = $1 and ended_at is null
       returning status = 'in_progress' and expires_at > clock_timestamp() as begins
     ), next as materialized (
       select l.number, l.request_id as previous from batch_line l, open
       where batch_id = $1 and state = 'queued' and (begins or request_id is not null)
       order by waited_at nulls first, number limit cardinality($2::uuid[]) for update of l skip locked
     ), numbered as (
       select number, previous, row_number() over () as place from next
     )
     update batch_line l set state = 'running', claimed_at = clock_timestamp(), request_id = ($2::uuid[])[place]
     from numbered n where l.batch_id = $1 and l.number = n.number
     returning l.number, l.content, l.tries, l.request_id as "requestId", n.previous`,
    values: [batchId, requestIds],
  })
}

/** A line that an instance has taken, and the request for which it did: once another has taken it, nothing of the first changes it. */
export interface LineClaim {
  readonly batchId: string
  readonly number: number
  readonly requestId: string
}

/** Says that these lines are still running here. Returns how many of them are. */
export async function renewLines(database: Queryable, claims: readonly LineClaim[]): Promise<number> {
  const rows = await database.rows({
    name: 'renew lines',
    text: `update batch_line l set claimed_at = clock_timestamp() from unnest($1::uuid[], $2::integer[], $3::uuid[]) c(batch_id, number, request_id)
     where l.batch_id = c.batch_id and l.number = c.number and l.request_id = c.request_id and state = 'running' returning 1`,
    values: [
      claims.map(({ batchId }) => batchId),
      claims.map(({ number }) => number),
      claims.map(({ requestId }) => requestId),
    ],
  })
  return rows.length
}

/** Requeues running lines that no instance has renewed for half a minute, even if the clock was set back. */
export async function queueLapsedLines(database: Queryable): Promise<void> {
  await database.rows(
    `update batch_line set state = 'queued' where state = 'running'
       and claimed_at not between clock_timestamp() - interval '30 seconds' and clock_timestamp() + interval '30 seconds'`,
  )
}

/** How a line ended. The result is encrypted. */
export interface LineEnd extends LineClaim {
  readonly accountId: string
  readonly result: Buffer
  readonly state: 'succeeded' | 'failed'
  /** The request that was charged. Null: none was. A line that has failed was charged if its reply was lost. */
  readonly chargedAs: string | null
  /** The idempotency key under which the till stored the reply. */
  readonly storedAs: string
}

/**
 * Uses up the idempotency key ($4, $5) of a line that is running for a request ($1 to $3) and ends without a charge. The till then refuses an instance that took the line before and was
 * slow. Returns the other request, if any, that is in flight with that key or was charged; $6 does not count as another.
 */
const barIf = (
  condition: string,
) => `insert into idempotency (account_id, key, request_hash, hold_id, created_at, body, digest)
  select $4, $5, '', $3, clock_timestamp(), '', reply_digest(row($4, $5, '', $3, null, null, '', null)::idempotency)
  from batch_line where batch_id = $1 and number = $2 and request_id = $3 and state = 'running' and ${condition} for update
  on conflict (account_id, key) do update set created_at = idempotency.created_at
    where idempotency.body is distinct from '' and idempotency.hold_id is distinct from $6::uuid
  returning case when body is distinct from '' then hold_id end as other`

/**
 * Ends a line once, and its batch with its last line. The reply that the till stored goes. Its idempotency key stays, for as long as others do, also if nothing was charged: an
 * instance that took the line and was slow finds that it has ended, and charges nothing. A line does not fail while another request
 * with its key is in flight, or after it was charged. Resolves with that request.
 */
export async function endLine(database: Queryable, end: LineEnd): Promise<string | undefined> {
  const { batchId, number, requestId, accountId, result, state, chargedAs, storedAs } = end
  const [row] = await database.rows<{ other: string }>({
    name: 'end line',
    text: `with barred as (${barIf(`$8 = 'failed'`)}), ended as (
       update batch_line set state = $8, result = $7, request_id = $6, content = null, claimed_at = null
       where batch_id = $1 and number = $2 and request_id = $3 and state = 'running'
         and not exists (select from barred where other is not null)
       returning state
     ), emptied as (
       select i.account_id, i.key, i.hold_id, i.created_at from idempotency i, ended where account_id = $4 and key = $5 and body is not null
     ), kept as (
       -- No request has this hash.
       update idempotency i set request_hash = '', headers = null, body = '',
         digest = reply_digest(row(e.account_id, e.key, '', e.hold_id, e.created_at, null, '', null)::idempotency)
       from emptied e where i.account_id = e.account_id and i.key = e.key
     ), counted as (
       update batch set succeeded = succeeded + (state = 'succeeded')::integer, failed = failed + (state = 'failed')::integer
       from ended where id = $1
     )
     select other from barred where other is not null`,
    values: [batchId, number, requestId, accountId, storedAs, chargedAs, result, state],
  })
  return row?.other
}

/**
 * For a line that is not run because its batch ends: no one who took it before is charged for it. Resolves with the request that is in flight
 * for it, or was charged.
 */
export async function barLine(
  database: Queryable,
  { batchId, number, requestId, accountId, storedAs }: LineClaim & Pick<LineEnd, 'accountId' | 'storedAs'>,
): Promise<string | undefined> {
  const [row] = await database.rows<{ other: string | null }>({
    name: 'bar line',
    text: barIf('true'),
    values: [batchId, number, requestId, accountId, storedAs, null],
  })
  return row?.other ?? undefined
}

/** A line that is to be taken again. */
export interface LineRetry extends LineClaim {
  /** ms that its batch waits. */
  readonly pause: number
  readonly waitsFor: 'limits' | 'credit' | 'model'
  /** Whether the try counts. */
  readonly counts: boolean
  /** The request that may have been charged for it. */
  readonly mayBeCharged: string | null
}

/** Queues a line again, and lets its batch wait. */
export async function queueAgain(database: Queryable, requeued: LineRetry): Promise<void> {
  const { batchId, number, requestId, pause, waitsFor, counts, mayBeCharged } = requeued
  await database.rows({
    name: 'queue line',
    text: `with queued as (
       update batch_line set state = 'queued', claimed_at = null, tries = tries + case when $5 then 1 else 0 end,
         request_id = $6, waited_at = case when $4 = 'limits' then waited_at else clock_timestamp() end
       where batch_id = $1 and number = $2 and request_id = $7 and state = 'running' returning 1
     )
     update batch set next_at = greatest(next_at, clock_timestamp() + $3 * interval '1 ms'), waits_for = $4 from queued where id = $1`,
    values: [batchId, number, pause, waitsFor, counts, mayBeCharged, requestId],
  })
}

/** What an earlier try of a line has left: a request that is in flight, or a charge. */
export async function readEarlierTry(database: Queryable, requestId: string): Promise<'nothing' | 'held' | 'charged'> {
  const [row] = await database.rows<{ found: 'nothing' | 'held' | 'charged' }>({
    name: 'earlier try',
    text: `select case when exists (select from hold where id = $1) then 'held'
       when exists (select from ledger where request_id = $1) then 'charged' else 'nothing' end as found`,
    values: [requestId],
  })
  return row?.found ?? 'nothing'
}

/** Ends the batch of a key that is no longer valid, once what is running has ended. */
export async function failBatch(database: Queryable, id: string, fault: BatchFault): Promise<void> {
  await database.rows(
    `update batch set status = 'cancelling', cancelling_at = clock_timestamp(), errors = $2 where id = $1 and status = 'in_progress'`,
    [id, JSON.stringify([fault])],
  )
}

/**
 * Ends batches whose lines have all ended, and those that were cancelled or have expired and of which no line runs or may be charged. An
 * instance may take a line up to the moment at which a batch expires, so that moment must be over for a while.
 */
export function endBatches(database: Queryable): Promise<{ readonly id: string; readonly status: string }[]> {
  return database.rows(
    `update batch set ended_at = clock_timestamp(), waits_for = null, results_until = clock_timestamp() + kept,
       status = case when succeeded + failed = lines then 'completed' when errors is not null then 'failed'
         when status = 'cancelling' then 'cancelled' else 'expired' end,
       output_id = case when dialect = 'openai' and succeeded > 0 then gen_random_uuid() end,
       error_id = case when dialect = 'openai' and succeeded < lines then gen_random_uuid() end
     where status in ('in_progress', 'cancelling') and (succeeded + failed = lines
       or (status = 'cancelling' or expires_at < now() - interval '10 seconds') and not exists (
         select from batch_line where batch_id = batch.id and (state = 'running' or state = 'queued' and request_id is not null)))
     returning id, status`,
  )
}

/**
 * Removes files and results that have expired, what stopped arriving an hour ago, and what is left of batches that ended 30 days ago, in
 * statements that are short however many lines there are.
 */
export async function removeExpiredBatches(database: Database): Promise<void> {
  const fileIsDue = `expires_at <= now() or uploaded_at is null and created_at < now() - interval '1 hour'`
  await inSteps(
    database,
    `delete from batch_file_line where ctid = any(array(
       select l.ctid from batch_file f join batch_file_line l on l.file_id = f.id where ${fileIsDue} limit ${rowsAtOnce})) returning 1`,
  )
  await database.rows(`delete from batch_file where ${fileIsDue}`)
  const linesAreDue = `ended_at is not null and (results_until <= now() or results_until is null)
    or status = 'arriving' and created_at < now() - interval '1 hour'`
  await inSteps(
    database,
    `delete from batch_line where ctid = any(array(
       select l.ctid from batch b join batch_line l on l.batch_id = b.id where ${linesAreDue} limit ${rowsAtOnce})) returning 1`,
  )
  await database.rows(
    `update batch set results_until = null, output_id = null, error_id = null where ended_at is not null and results_until <= now()`,
  )
  await database.rows(
    `delete from batch where ended_at < now() - interval '30 days' and results_until is null
       or status = 'arriving' and created_at < now() - interval '1 hour'`,
  )
  await database.rows(`delete from spare where at < now() - interval '1 day'`)
}
