import type { Scope } from '../access/policy.ts'
import { joinCreditUse } from '../accounts/credit-use.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'

interface PersonJson {
  readonly id: string
  readonly name: string
}

/** A client as JSON in a row. */
export interface ClientJson extends PersonJson {
  readonly consultant: PersonJson
}

/** An audit event of a change. Its time is one in PostgreSQL's JSON. */
export interface ChangeJson {
  readonly at: string
  readonly action: string
  readonly noun: 'client' | 'note' | 'dispute' | 'letter'
  readonly id: string
  readonly title: string | null
  readonly by: PersonJson | null
}

export interface ChangedRow {
  readonly client: ClientJson
  readonly status: 'active' | 'archived'
  /** Newest first. */
  readonly events: readonly ChangeJson[] | null
}

/** One row more than are shown. A constant, since the planner would sort the whole table for an unknown limit. */
const changedClients = 16
const eventsOfClient = 60

/** The condition on the client `c`, as row-level security has it, so that it is part of an index scan. */
const reachable: Readonly<Record<Scope['of'], string>> = {
  consultant: 'c.deleted_at is null and c.consultant_id = $1::uuid',
  all: 'c.deleted_at is null and $1::uuid is null',
  none: 'false and $1::uuid is null',
}
export const consultantOf = (scope: Scope) => (scope.of === 'consultant' ? scope.id : null)

/**
 * The items of active clients. Those of one consultant are read client by client. Those of the firm are read in the order of
 * an index, and each looks up its client: the planner might read every client instead, if it were free to.
 */
export function waitingIn({ of }: Scope, table: string, clientId: string): string {
  const active = `${reachable[of]} and c.status = 'active'`
  return of === 'all'
    ? `${table} cross join lateral (select from client c where c.id = ${clientId} and ${active} offset 0) its_client`
    : `client c join ${table} on ${clientId} = c.id and ${active}`
}

export const clientJson = `json_build_object('id', c.id, 'name', c.name,
  'consultant', json_build_object('id', p.id, 'name', p.name))`

/** The clients that changed since a time, and how: the last to change first. */
export function readChanges(scope: Scope, since: Date): PreparedStatement<ChangedRow> {
  const changed = (status: string) => `(select c.id, c.changed_at from client c
    where ${reachable[scope.of]} and c.status = '${status}' and c.changed_at >= $2::timestamptz
    order by c.changed_at desc, c.id desc limit ${changedClients})`
  return {
    name: `overview changes ${scope.of}`,
    text: `with page as materialized (
        select * from (${changed('active')} union all ${changed('archived')}) both_statuses
        order by changed_at desc, id desc limit ${changedClients})
      select ${clientJson} as client, c.status, (
        select json_agg(json_build_object('at', e.at, 'action', e.action, 'noun', e.noun, 'id', e.noun_id,
            'title', coalesce(n.date::text, d.invoice, l.subject),
            'by', case when a.id is null then null else json_build_object('id', a.id, 'name', a.name) end) order by e.id desc)
        from (select id, at, action, noun, noun_id, person_id from audit
            where client_id = page.id and outcome = 'allowed' and noun in ('client', 'note', 'dispute', 'letter')
              and action ~ '_(created|imported|changed|assigned|removed|archived|unarchived|restored|approved|sent)$'
            order by id desc limit ${eventsOfClient}) e
          left join person a on a.id = e.person_id
          left join note n on e.noun = 'note' and n.id = e.noun_id
          left join dispute d on e.noun = 'dispute' and d.id = e.noun_id
          left join letter l on e.noun = 'letter' and l.id = e.noun_id
        where e.at >= $2::timestamptz) as events
      from page join client c on c.id = page.id join person p on p.id = c.consultant_id
      order by page.changed_at desc, page.id desc`,
    values: [consultantOf(scope), since.toISOString()],
  }
}

/** Times are in PostgreSQL's JSON. */
export interface WaitingRow<Item> {
  readonly items: readonly Item[] | null
  /** Counted up to one more than `countedDisputes` or `countedWaiting`. */
  readonly total: number
}

export interface DisputeJson {
  readonly id: string
  readonly invoice: string
  /** In 10⁻¹² of the currency unit. */
  readonly amount: string
  /** The day by which the firm has to answer. */
  readonly due: string | null
  readonly created_at: string
  readonly client: ClientJson
}

export const countedDisputes = 10_000
export const countedWaiting = 1000
const listed = 50

/** The open disputes of active clients, oldest first. `amount` is the sum of those counted, in 10⁻¹² of the unit. */
export function readOpenDisputes(
  scope: Scope,
): PreparedStatement<WaitingRow<DisputeJson> & { readonly amount: string }> {
  return {
    name: `overview disputes ${scope.of}`,
    text: `with open as materialized (
        select d.id, d.client_id, d.amount, d.created_at from ${waitingIn(scope, 'dispute d', 'd.client_id')}
        where d.status = 'open' and d.archived_at is null
        order by d.created_at, d.id limit ${countedDisputes + 1}),
      shown as materialized (select * from open order by created_at, id limit ${listed})
      select (select count(*)::int from open) as total, (select coalesce(sum(amount), 0)::text from open) as amount,
        (select json_agg(json_build_object('id', d.id, 'invoice', d.invoice, 'amount', d.amount::text, 'due', d.due,
            'created_at', d.created_at, 'client', ${clientJson}) order by shown.created_at, shown.id)
          from shown join dispute d on d.id = shown.id join client c on c.id = shown.client_id
            join person p on p.id = c.consultant_id) as items`,
    values: [consultantOf(scope)],
  }
}

export interface LetterJson {
  readonly id: string
  readonly subject: string
  readonly updated_at: string
  readonly updated_by: PersonJson | null
  readonly client: ClientJson
}

/** The letters of active clients that have a status, the last changed first. */
export function readWaitingLetters(
  scope: Scope,
  status: 'draft' | 'approved',
): PreparedStatement<WaitingRow<LetterJson>> {
  return {
    name: `overview ${status} ${scope.of}`,
    text: `with waiting as materialized (
        select l.id, l.client_id, l.updated_at from ${waitingIn(scope, 'letter l', 'l.client_id')}
        where l.status = '${status}' and l.archived_at is null
        order by l.updated_at desc, l.id desc limit ${countedWaiting + 1}),
      shown as materialized (select * from waiting order by updated_at desc, id desc limit ${listed})
      select (select count(*)::int from waiting) as total,
        (select json_agg(json_build_object('id', l.id, 'subject', l.subject, 'updated_at', l.updated_at,
            'updated_by', case when u.id is null then null else json_build_object('id', u.id, 'name', u.name) end,
            'client', ${clientJson}) order by shown.updated_at desc, shown.id desc)
          from shown join letter l on l.id = shown.id join client c on c.id = shown.client_id
            join person p on p.id = c.consultant_id left join person u on u.id = l.updated_by) as items`,
    values: [consultantOf(scope)],
  }
}

/** Whether there is an active client. */
export function anyActiveClient(scope: Scope): PreparedStatement<{ readonly yes: boolean }> {
  return {
    name: `overview any ${scope.of}`,
    // In the order of an index, since the planner might read the table from its start.
    text: `select exists (select from (select c.id from client c where ${reachable[scope.of]} and c.status = 'active'
      order by c.sort_key, c.id limit 1) first_client) as yes`,
    values: [consultantOf(scope)],
  }
}

/** What is left of an account. Amounts are in 10⁻¹² of the currency unit. */
export interface AccountCreditRow {
  readonly id: string
  readonly name: string
  readonly own: boolean
  readonly creditLeft: bigint
  readonly monthlyLimit: bigint | null
  /** From 0 to 100, rounded down. */
  readonly usedPercent: number
}

/**
 * The firm's own open accounts, and others of which 90 % or more is used: first those with the smallest share left. An
 * account without any credit is used up.
 */
export function readAccountCredit(database: Queryable, most: number): Promise<AccountCreditRow[]> {
  return database.rows(
    `select id, name, own, "creditLeft", monthly_limit as "monthlyLimit", coalesce("usedPercent", 100) as "usedPercent"
     from account ${joinCreditUse}
     where status = 'open' and (own or credit_use."usedPercent" >= 90)
     order by "usedPercent" desc, own desc, name limit $1`,
    [most],
  )
}

/** The charges of one day in UTC, to all accounts: those of the roll-up, which are those of the ledger. */
export function readDayCost(
  database: Queryable,
  day: string,
): Promise<{ readonly cost: bigint; readonly requests: bigint }[]> {
  return database.rows(
    'select coalesce(sum(cost), 0) as cost, coalesce(sum(requests), 0) as requests from usage_day where day = $1::date',
    [day],
  )
}

interface OverdueRow {
  readonly invoices: bigint
  /** In 10⁻¹² of the currency unit. */
  readonly open: bigint
  /** When the oldest of them was due, `2026-03-12`. */
  readonly oldest: string | null
}

/** The invoices that are overdue on a day, `YYYY-MM-DD`: those that the list shows in this state. */
export function readOverdue(today: string, currency: string): PreparedStatement<OverdueRow> {
  return {
    name: 'overdue invoices',
    text: `select count(*) as invoices, coalesce(sum(open), 0) as open, min(due_on) as oldest from (
        select i.due_on, i.gross - coalesce(p.amount, 0) - coalesce(c.amount, 0) as open from invoice i
          left join (select invoice_id, sum(amount) as amount from invoice_payment group by 1) p on p.invoice_id = i.id
          left join (select credits_id, sum(gross) as amount from invoice where kind = 'credit_note' and state = 'issued' group by 1) c
            on c.credits_id = i.id
        where i.kind = 'invoice' and i.state = 'issued' and i.due_on < $1::date and i.currency = $2) due
      where open > 0`,
    values: [today, currency],
  }
}
