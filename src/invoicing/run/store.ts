import type { Visit } from '../../access/actor.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { InvoiceTotals } from '../arithmetic.ts'
import { issueValues, linesJson, totalsJson, type IssueTerms } from '../changes-store.ts'
import { isVatId, vatIdPattern } from '../../platform/text/country.ts'
import type { InvoiceLine } from '../document.ts'

/** A draft of the monthly run, before it is stored. */
export interface RunDraft {
  readonly id: string
  readonly accountId: string
  /** The first day of the month. */
  readonly month: string
  readonly currency: string
  readonly decimals: number
  readonly lines: readonly InvoiceLine[]
  readonly totals: InvoiceTotals
}

/** An invoice that the run created or issued. The amount is in 10⁻¹² of the currency unit. */
export interface RunInvoice {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly number: string | null
  readonly gross: bigint
  readonly currency: string
  readonly decimals: number
}

/**
 * Until the end of the transaction, plans look up each row in an index. In the first run, the tables of invoices are almost
 * empty: a plan that reads all of a small table would be kept while it grows.
 */
export const lookUpRows: PreparedStatement = {
  name: 'look up rows',
  text: `select set_config(name, 'off', true) from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) name`,
}

/**
 * Creates the drafts whose month no invoice bills yet, as `create_invoice()` does, with their lines and audit events. Three
 * statements for all drafts: PostgreSQL prepares the constraints of a table again for every statement that writes to it.
 */
export function insertRunDrafts(visit: Visit, drafts: readonly RunDraft[]) {
  return [insertInvoices(drafts), insertLines(drafts), noteInvoices(visit, drafts)] as const
}

function insertInvoices(drafts: readonly RunDraft[]): PreparedStatement {
  const rows = drafts.map(({ id, accountId, month, currency, decimals, totals }) => ({
    id,
    account_id: accountId,
    month,
    currency,
    decimals,
    ...totalsJson(totals),
  }))
  return {
    name: 'create run drafts',
    text: `insert into invoice (id, account_id, month, currency, decimals, net, tax, gross, taxes)
      select d.id, d.account_id, d.month, d.currency, d.decimals, d.net, d.tax, d.gross, d.taxes
      from jsonb_populate_recordset(null::invoice, $1::jsonb) with ordinality d
      where not exists (select from billed_month b where b.account_id = d.account_id and b.month = d.month)
      order by d.ordinality`,
    values: [JSON.stringify(rows)],
  }
}

function insertLines(drafts: readonly RunDraft[]): PreparedStatement {
  const rows = drafts.flatMap(({ id, lines }) => linesJson(lines).map((line) => ({ ...line, invoice_id: id })))
  return {
    name: 'create run lines',
    text: `insert into invoice_line (invoice_id, position, source, text, quantity, unit, unit_price, exact, net,
        tax_category, tax_rate, tax_reason, model, direction)
      select l.invoice_id, l.position, l.source, l.text, l.quantity, l.unit, l.unit_price, l.exact, l.net,
        l.tax_category, l.tax_rate, l.tax_reason, l.model, l.direction
      from jsonb_populate_recordset(null::invoice_line, $1::jsonb) l
      where exists (select from invoice i where i.id = l.invoice_id)`,
    values: [JSON.stringify(rows)],
  }
}

function noteInvoices({ requestId, address }: Visit, drafts: readonly RunDraft[]): PreparedStatement {
  return {
    name: 'note run drafts',
    text: `insert into audit (action, outcome, noun, noun_id, request_id, address, details)
      select 'invoice_created', 'allowed', 'invoice', i.id, $2, $3, jsonb_build_object('kind', i.kind)
      from jsonb_array_elements_text($1::jsonb) with ordinality as e(id, place) join invoice i on i.id = e.id::uuid
      order by e.place`,
    values: [JSON.stringify(drafts.map(({ id }) => id)), requestId, address],
  }
}

/** What people wrote that an invoice prints. */
export interface WrittenTexts {
  readonly id: string
  readonly texts: readonly string[]
}

/** What `issue_invoice()` copies from accounts into their invoices. */
export function readPayerTexts(accountIds: readonly string[]): PreparedStatement<WrittenTexts> {
  return {
    name: 'run payer texts',
    text: `select id, array_remove(array[coalesce(billing_name, name), billing_address, billing_tax_number], null) as texts
      from account where id in (select e.id::uuid from jsonb_array_elements_text($1::jsonb) as e(id))`,
    values: [JSON.stringify(accountIds)],
  }
}

/** What drafts state by themselves, and what they take from their accounts. */
export function readDraftTexts(ids: readonly string[]): PreparedStatement<WrittenTexts> {
  return {
    name: 'run draft texts',
    text: `select i.id, array_remove(array[coalesce(i.buyer_name, a.billing_name, a.name),
          coalesce(i.buyer_address, a.billing_address), coalesce(i.buyer_tax_number, a.billing_tax_number),
          i.buyer_reference, i.order_number, i.note], null)
        || array(select l.text from invoice_line l where l.invoice_id = i.id) as texts
      from jsonb_array_elements_text($1::jsonb) as e(id)
      join invoice i on i.id = e.id::uuid join account a on a.id = i.account_id`,
    values: [JSON.stringify(ids)],
  }
}

/**
 * Issues those of the invoices that are drafts, in this order. One in another currency stays a draft, and so does one whose taxes
 * need a VAT number that the account or the firm lacks: what `faultsOf` says of one draft, for many.
 */
export function issueRunDrafts(
  visit: Visit,
  ids: readonly string[],
  { currency, ...terms }: IssueTerms & { readonly currency: string },
): PreparedStatement<{ readonly outcome: string }> {
  return {
    name: 'issue run drafts',
    text: `select issue_invoice(d.id, d.version, $2, $3, $4, $5, $6, $7, $8) as outcome
      from (select i.id, i.version from jsonb_array_elements_text($1::jsonb) with ordinality as e(id, place)
        join invoice i on i.id = e.id::uuid join account a on a.id = i.account_id
        where i.state = 'draft' and i.currency = $9 and not exists (select from invoice_line l where l.invoice_id = i.id
          and (l.tax_category in ('AE', 'K') and coalesce(i.buyer_tax_number, a.billing_tax_number, '') !~ $10
            or l.tax_category in ('K', 'G') and not $11))
        order by e.place) d`,
    values: [
      JSON.stringify(ids),
      ...issueValues(visit, terms),
      currency,
      vatIdPattern,
      isVatId(terms.seller?.tax_number ?? null),
    ],
  }
}

/** Those of the invoices that exist, in this order. */
export function readRunInvoices(ids: readonly string[]): PreparedStatement<RunInvoice> {
  return {
    name: 'run invoices',
    text: `select i.id, i.account_id as "accountId", a.name, i.number, i.gross, i.currency,
        i.decimals::integer as decimals
      from jsonb_array_elements_text($1::jsonb) with ordinality as e(id, place)
      join invoice i on i.id = e.id::uuid join account a on a.id = i.account_id order by e.place`,
    values: [JSON.stringify(ids)],
  }
}

/** The drafts for a month that a run created, not a person. */
export function readRunDrafts(month: string): PreparedStatement<RunInvoice> {
  return {
    name: 'run drafts',
    text: `select i.id, i.account_id as "accountId", a.name, i.number, i.gross, i.currency, i.decimals::integer as decimals
      from invoice i join account a on a.id = i.account_id
      where i.month = $1 and i.state = 'draft' and i.created_by is null order by lower(a.name), a.id`,
    values: [month],
  }
}

/** The day of a month, in the firm's time zone, on which the month before is run. */
export interface RunDay {
  readonly day: number
  readonly timeZone: string
}

/**
 * Claims, for one minute, the earliest month due for billing. A month is due once it has been over for an hour (`readIsOver`).
 * Undefined if no month is due, or another instance holds the claim. The first run ever is that of the past month; after
 * that, no month is missed.
 */
export async function claimMonth(database: Queryable, { day, timeZone }: RunDay): Promise<string | undefined> {
  const [row] = await database.rows<{ month: string }>(
    `with latest as (
       select date_trunc('month', least((now() at time zone $2) - make_interval(days => $1 - 1),
         (now() - interval '1 hour') at time zone 'UTC'))
         - interval '1 month' as month),
     due as (
       select g.month::date as month from latest cross join lateral generate_series(coalesce(
         (select min(r.month) from invoice_run r where r.finished_at is null),
         (select max(r.month) + interval '1 month' from invoice_run r), latest.month), latest.month, '1 month') as g(month)
       order by 1 limit 1)
     insert into invoice_run as r (month, busy_until) select month, clock_timestamp() + interval '1 minute' from due
     on conflict (month) do update set busy_until = excluded.busy_until
       where r.finished_at is null and r.busy_until <= clock_timestamp()
     returning month`,
    [day, timeZone],
  )
  return row?.month
}

/** Extends the claim of a month by a minute from now. */
export async function extendClaim(database: Queryable, month: string): Promise<void> {
  await database.rows(`update invoice_run set busy_until = clock_timestamp() + interval '1 minute' where month = $1`, [
    month,
  ])
}

/** Ends the claim, so that an instance continues at its next look; or the run, if it is finished. */
export async function endClaim(database: Queryable, month: string, isFinished: boolean): Promise<void> {
  await database.rows(
    `update invoice_run set busy_until = clock_timestamp(), finished_at = case when $2 then clock_timestamp() end
     where month = $1 and finished_at is null`,
    [month, isFinished],
  )
}
