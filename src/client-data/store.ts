import type { Visit } from '../access/actor.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { codeOf } from '../platform/database/failure.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { proven } from '../platform/database/proven-store.ts'

export interface ErasureRow {
  readonly client_id: string
  readonly name: string
  readonly reference: string | null
  readonly reason: string
  readonly scheduled_at: Date
  readonly scheduled_by: string | null
  readonly scheduled_by_name: string | null
  readonly due_at: Date | null
  readonly performed_at: Date | null
  readonly total: number
}

const client = 'e.client_id, c.name, c.reference'
const scheduling = 'e.reason, e.scheduled_at, e.scheduled_by, p.name as scheduled_by_name'
const joined = 'join client c on c.id = e.client_id left join person p on p.id = e.scheduled_by'
const total = 'count(*) over ()::int as total'

/** The erasures to come, the next one first. */
export function readScheduled(limit: number): PreparedStatement<ErasureRow> {
  return {
    name: 'erasures scheduled',
    text: `select ${client}, ${scheduling}, e.due_at, null::timestamptz as performed_at, ${total}
      from erasure e ${joined} where e.withdrawn_at is null order by e.due_at, e.id limit $1`,
    values: [limit],
  }
}

/** The erasures that were performed, the last one first. */
export function readPerformed(limit: number): PreparedStatement<ErasureRow> {
  return {
    name: 'erasures performed',
    text: `select ${client}, ${scheduling}, null::timestamptz as due_at, e.at as performed_at, ${total}
      from erased_client e ${joined} order by e.number desc limit $1`,
    values: [limit],
  }
}

/** The erasure of one client that is scheduled. */
export function readErasureOf(clientId: string): PreparedStatement<ErasureRow> {
  return {
    name: 'erasure of client',
    text: `select ${client}, ${scheduling}, e.due_at, null::timestamptz as performed_at, ${total}
      from erasure e ${joined} where e.withdrawn_at is null and e.client_id = $1`,
    values: [clientId],
  }
}

/** How much of each is still to be done for a client. */
export interface OpenWork {
  readonly drafts_running: number
  readonly unbilled: number
  readonly invoice_drafts: number
  readonly open_invoices: number
  readonly open_disputes: number
  readonly unsent_letters: number
}

/** No row: there is no such client, or it was erased. */
export function readOpenWork(clientId: string): PreparedStatement<OpenWork> {
  return {
    name: 'open work of client',
    text: `select
        (select count(*)::int from draft d where d.client_id = c.id and d.status = 'running') as drafts_running,
        (select count(*)::int from unbilled u where u.client_id = c.id) as unbilled,
        (select count(*)::int from invoice i where i.client_id = c.id and i.state = 'draft') as invoice_drafts,
        (select count(*)::int from invoice i where i.client_id = c.id and i.kind = 'invoice' and i.state = 'issued'
          and i.gross > invoice_paid(i.id) + invoice_credited(i.id)) as open_invoices,
        (select count(*)::int from dispute d where d.client_id = c.id and d.status = 'open' and d.archived_at is null)
          as open_disputes,
        (select count(*)::int from letter l where l.client_id = c.id and l.status <> 'sent' and l.archived_at is null)
          as unsent_letters
      from client c where c.id = $1 and not exists (select from erased_client e where e.client_id = c.id)`,
    values: [clientId],
  }
}

export interface Scheduling {
  /** Whether the reason contains the name, the reference or the email address of the client. */
  readonly named: boolean
  /** False if the reason does, and if an erasure is scheduled already. */
  readonly scheduled: boolean
}

/** Schedules an erasure after a waiting period, such as `30 days`. No row: there is no such client, or it was erased. */
export function scheduleErasure(
  { requestId, address }: Visit,
  { clientId, reason, waiting }: { readonly clientId: string; readonly reason: string; readonly waiting: string },
): PreparedStatement<Scheduling> {
  return {
    name: 'schedule erasure',
    text: `with here as materialized (
        select c.id, exists (select from unnest(array[words(c.name), words(c.reference), words(c.email)]) as w (text)
          where length(w.text) >= 3 and ' ' || words($2) || ' ' like '% ' || w.text || ' %') as named
        from client c where c.id = $1 and not exists (select from erased_client e where e.client_id = c.id)),
      changed as (
        insert into erasure (client_id, reason, due_at)
        select id, $2, clock_timestamp() + $3::text::interval from here where not named
        on conflict (client_id) where withdrawn_at is null do nothing returning client_id, due_at),
      noted as (
        insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
        select 'client_erasure_scheduled', 'allowed', client_id, 'client', client_id, $4::text, $5::text,
          jsonb_build_object('due', to_char(due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
        from changed returning true)
      select named, exists (select from noted) as scheduled from here`,
    values: [clientId, reason, waiting, requestId, address],
  }
}

/** Returns a row if an erasure was scheduled. */
export function withdrawErasure({ requestId, address }: Visit, clientId: string): PreparedStatement {
  return {
    name: 'withdraw erasure',
    text: `with changed as (
        update erasure set withdrawn_at = clock_timestamp(), withdrawn_by = portal_person()
        where client_id = $1 and withdrawn_at is null returning client_id)
      insert into audit (action, outcome, client_id, noun, noun_id, request_id, address)
      select 'client_erasure_withdrawn', 'allowed', client_id, 'client', client_id, $2::text, $3::text
      from changed returning true as done`,
    values: [clientId, requestId, address],
  }
}

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

/** `not_due`: it was withdrawn, or another instance was first. `busy`: something is being generated or read for the client; try again later. */
type ErasureOutcome = 'erased' | 'not_due' | 'busy'

/** The tables that `erase_client` empties of a client's names and texts. */
const erasedTables =
  'client, note, dispute, letter, letter_mail, letter_mail_end, letter_file, letter_review, letter_review_notice, document, document_content, document_upload, document_chunk, document_text, task, contact, time_entry, timer, expense, draft, revision, invoice, invoice_line, idempotency'

/**
 * Erases a client, in one transaction: see erase_client(). The planner's statistics
 * contain values of the tables, such as names, until the next ANALYZE.
 */
export function eraseClient(
  database: Database,
  clientId: string,
  waiting: string,
): Promise<ErasureOutcome | undefined> {
  const erased = database.transaction(async (tx) => {
    const [row] = await tx.rows<{ outcome: ErasureOutcome }>('select erase_client($1, $2::interval) as outcome', [
      clientId,
      waiting,
    ])
    if (row?.outcome === 'erased') await tx.rows(`analyze ${erasedTables}`)
    return row?.outcome
  })
  // Keeping the text of a document locks its content before the client, so each can wait for the other.
  return erased.catch((error: unknown) => (codeOf(error) === deadlock ? 'busy' : Promise.reject(error)))
}

const deadlock = '40P01'

/** A retention rule: how long archived and deleted clients are kept, and how long their erasure then waits. */
interface RetentionRule {
  readonly kept: string
  readonly waiting: string
  readonly reason: string
}

/**
 * Withdraws the erasures that the rule scheduled for clients that were restored since, and schedules those of clients that
 * have been archived or deleted for long enough, unless a person withdrew it. Returns how many were scheduled.
 */
export function applyRetention(database: Database, { kept, waiting, reason }: RetentionRule): Promise<number> {
  return proven(database, async (tx) => {
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
