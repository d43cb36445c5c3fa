import type { Database, Queryable } from '../platform/database/database.ts'

/** The clients whose erasure is due and was scheduled at least `waiting` ago, the longest overdue first. */
export async function readDue(database: Queryable, waiting: string): Promise<string[]> {
  const rows = await database.rows<{ client_id: string }>(
    `select client_id from erasure
     where withdrawn_at is null and due_at <= clock_timestamp() and scheduled_at + $1::interval <= clock_timestamp()
     order by due_at limit 100`,
    [waiting],
  )
  return rows.map(({ client_id }) => client_id)
}

/** `not_due`: it was withdrawn, or another instance was first. `busy`: something is being generated for the client. */
export type ErasureOutcome = 'erased' | 'not_due' | 'busy'

/** The tables that `erase_client` empties of a client's names and texts. */
const erasedTables =
  'client, note, dispute, letter, time_entry, expense, draft, revision, invoice, invoice_line, idempotency'

/**
 * Erases a client, in one transaction: see erase_client(). The planner's statistics
 * contain values of the tables, such as names, until the next ANALYZE.
 */
export function eraseClient(
  database: Database,
  clientId: string,
  waiting: string,
): Promise<ErasureOutcome | undefined> {
  return database.transaction(async (tx) => {
    const [row] = await tx.rows<{ outcome: ErasureOutcome }>('select erase_client($1, $2::interval) as outcome', [
      clientId,
      waiting,
    ])
    if (row?.outcome === 'erased') await tx.rows(`analyze ${erasedTables}`)
    return row?.outcome
  })
}

/** A retention rule: how long archived and deleted clients are kept, and how long their erasure then waits. */
export interface RetentionRule {
  readonly kept: string
  readonly waiting: string
  readonly reason: string
}

/**
 * Withdraws the erasures that the rule scheduled for clients that were restored since, and schedules those of clients that
 * have been archived or deleted for long enough, unless a person withdrew it. Returns how many were scheduled.
 */
export function applyRetention(database: Database, { kept, waiting, reason }: RetentionRule): Promise<number> {
  return database.transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.proof', 'on', true)`)
    await tx.rows(`
      with changed as (
        update erasure e set withdrawn_at = clock_timestamp() from client c
        where c.id = e.client_id and e.withdrawn_at is null and e.scheduled_by is null
          and c.status = 'active' and c.deleted_at is null
        returning e.client_id)
      insert into audit (action, outcome, actor, client_id, noun, noun_id)
      select 'client_erasure_withdrawn', 'allowed', 'service', client_id, 'client', client_id from changed`)
    const rows = await tx.rows(
      `with changed as (
        insert into erasure (client_id, reason, due_at)
        select c.id, $3, clock_timestamp() + $2::interval
        from client c cross join lateral (select coalesce(c.deleted_at, (
            select min(r.at) from revision r where r.noun_id = c.id and r.version > coalesce((
              select max(a.version) from revision a where a.noun_id = c.id and a.data ->> 'status' = 'active'), 0))) as at) since
        where (c.status = 'archived' or c.deleted_at is not null)
          and c.created_at < clock_timestamp() - $1::interval and since.at < clock_timestamp() - $1::interval
          and not exists (select from erased_client e where e.client_id = c.id)
          and not exists (select from erasure e where e.client_id = c.id and e.withdrawn_at >= since.at)
        order by since.at limit 1000
        on conflict (client_id) where withdrawn_at is null do nothing returning client_id)
      insert into audit (action, outcome, actor, client_id, noun, noun_id)
      select 'client_erasure_scheduled', 'allowed', 'service', client_id, 'client', client_id from changed returning 1`,
      [kept, waiting, reason],
    )
    return rows.length
  })
}
