import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { containsParts } from '../platform/database/spelling-store.ts'
import type { BuyerPlace, InvoiceLine } from './document.ts'
import type { InvoiceStatus, PaymentMethod, Unit } from './schema.ts'
import type { CreditedTax, Tax } from './arithmetic.ts'
import type { Seller } from './settings.ts'

/** An invoice without its lines. Amounts are in 10⁻¹² of the currency unit. */
export interface ListedInvoiceRow {
  readonly id: string
  readonly kind: 'invoice' | 'credit_note'
  readonly status: InvoiceStatus
  readonly account_id: string | null
  readonly client_id: string | null
  readonly payer_name: string
  /** The first day of the month. */
  readonly month: string | null
  readonly currency: string
  readonly decimals: number
  readonly number: string | null
  readonly issued_on: string | null
  readonly due_on: string | null
  readonly net: bigint
  readonly tax: bigint
  readonly gross: bigint
  readonly paid: bigint
  readonly credited: bigint
  readonly created_at: Date
  readonly updated_at: Date
  readonly version: number
  /** When the payer was last reminded. */
  readonly reminded_at: Date | null
}

export interface InvoiceRow extends ListedInvoiceRow {
  readonly state: 'draft' | 'issued' | 'void'
  readonly credits_id: string | null
  readonly credits_number: string | null
  readonly note: string
  /** As written in the draft, or as issued. */
  readonly buyer_name: string | null
  readonly buyer_address: string | null
  readonly buyer_tax_number: string | null
  readonly buyer_place: BuyerPlace | null
  readonly buyer_reference: string | null
  readonly order_number: string | null
  /** Null: as the configuration has it. */
  readonly days_to_pay: number | null
  readonly language: string | null
  /** As stated in the draft, or as issued. */
  readonly supply_from: string | null
  readonly supply_to: string | null
  /** What a draft would state. */
  readonly first_day: string | null
  readonly last_day: string | null
  readonly payer_address: string | null
  readonly payer_tax_number: string | null
  readonly seller: Seller | null
  readonly taxes: readonly StoredTaxGroup[]
}

/** Amounts as texts: JSON numbers can lose digits. */
export interface StoredTaxGroup extends Tax {
  readonly net: string
  readonly tax: string
}

const fields = `i.id, i.kind, i.state, i.account_id, i.client_id, coalesce(i.buyer_name, c.name, a.billing_name, a.name) as payer_name, i.month,
  i.currency, i.decimals::integer as decimals, i.number, i.issued_on, i.due_on, i.net, i.tax, i.gross, m.paid, m.credited,
  i.created_at, i.updated_at, i.version,
  case when i.state <> 'issued' then i.state when i.kind = 'credit_note' then 'issued'
    when m.credited > 0 and m.credited >= i.gross then 'credited' when m.paid + m.credited >= i.gross then 'paid'
    when i.due_on < $1::date then 'overdue' when m.paid > 0 then 'partly_paid' else 'open' end as status`
const remindedAt = `(select max(r.at) from invoice_mail r where r.invoice_id = i.id and r.kind = 'reminder') as reminded_at`
const payers = `invoice i left join client c on c.id = i.client_id left join account a on a.id = i.account_id`
/** For few invoices. Without `offset 0`, each mention of a sum would compute it again. */
const sources = `${payers} cross join lateral (select
    (select coalesce(sum(amount), 0) from invoice_payment where invoice_id = i.id) as paid,
    (select coalesce(sum(gross), 0) from invoice n where n.credits_id = i.id and n.state = 'issued') as credited offset 0) m`
/** For many invoices: all sums are computed together. */
const sourcesOfMany = `${payers}
  left join (select invoice_id, sum(amount) as paid from invoice_payment group by invoice_id) p on p.invoice_id = i.id
  left join (select credits_id, sum(gross) as credited from invoice where credits_id is not null and state = 'issued'
    group by credits_id) n on n.credits_id = i.id
  cross join lateral (select coalesce(p.paid, 0) as paid, coalesce(n.credited, 0) as credited) m`

/** Depends on the day, `YYYY-MM-DD`: an invoice is overdue from the day after it was due. */
export function readInvoice(today: string, id: string): PreparedStatement<InvoiceRow> {
  return {
    name: 'invoice',
    text: `select ${fields}, ${remindedAt}, i.credits_id, o.number as credits_number, i.note, i.buyer_name, i.buyer_address,
        i.buyer_tax_number, i.buyer_place, i.buyer_reference, i.order_number, i.days_to_pay, i.language, i.supply_from, i.supply_to, s.first_day, s.last_day, coalesce(c.address, a.billing_address) as payer_address,
        a.billing_tax_number as payer_tax_number, i.seller, i.taxes
      from ${sources} left join invoice o on o.id = i.credits_id
        left join lateral invoice_supply(i) s on i.state = 'draft' where i.id = $2`,
    values: [today, id],
  }
}

export interface InvoiceFilter {
  readonly status: InvoiceStatus | undefined
  readonly clientId: string | undefined
  readonly accountId: string | undefined
  /** Parts of the number or of the payer's name, in any spelling. */
  readonly q: string | undefined
  /** Parts of it. */
  readonly number: string | undefined
  /** The id of the last invoice of the previous page. */
  readonly after: string | undefined
}

/** The name of the payer of an invoice, `i`. A draft that states no buyer is to its payer as recorded. */
const payerName = `coalesce(i.buyer_name, (select name from client where id = i.client_id),
    (select coalesce(billing_name, name) from account where id = i.account_id))`
const isSpelt = (q: string) => containsParts(`spelling(coalesce(i.number, '') || ' ' || coalesce(i.buyer_name, ''))`, q)

interface Sought {
  /** The condition that one of a few invoices matches. */
  readonly one: string
  /** A query of all that match. Each part of it has an index. */
  readonly all: string
}

const sought: Readonly<Record<'q' | 'number', (it: string) => Sought>> = {
  q: (it) => ({
    one: containsParts(`spelling(coalesce(i.number, '') || ' ' || ${payerName})`, it),
    all: `select i.id from invoice i where ${isSpelt(it)}
      union all select i.id from invoice i where i.buyer_name is null and ${containsParts(`spelling(${payerName})`, it)}`,
  }),
  number: (it) => {
    const one = containsParts(`spelling(coalesce(i.number, ''))`, it)
    return { one, all: `select i.id from invoice i where ${isSpelt(it)} and ${one}` }
  },
}

const conditions = [
  ['clientId', (it) => `i.client_id = ${it}`],
  ['accountId', (it) => `i.account_id = ${it}`],
  ['after', (it) => `i.id < ${it}`],
] as const satisfies readonly (readonly [keyof InvoiceFilter, (parameter: string) => string])[]

/** The newest invoices of a list that a search tests before it uses the index: in that, a common word would lead to most invoices. */
const recent = 200

/**
 * Newest first. Each combination of conditions is a statement with a plan of its own. A status is not stored:
 * filtering by it computes those of all invoices.
 */
export function readInvoices(today: string, filter: InvoiceFilter, most: number): PreparedStatement<ListedInvoiceRow> {
  const values: (string | number)[] = [today, most]
  const names: string[] = ['invoices']
  const parameter = (name: keyof InvoiceFilter): string | undefined => {
    const value = filter[name]
    if (value === undefined) return undefined
    names.push(name)
    return `$${values.push(value)}`
  }
  const kept = conditions.flatMap(([name, condition]) => {
    const it = parameter(name)
    return it === undefined ? [] : [condition(it)]
  })
  const status = parameter('status')
  const searches = (['q', 'number'] as const).flatMap((name) => {
    const it = parameter(name)
    return it === undefined ? [] : [among(sought[name](it), kept, status !== undefined)]
  })
  const isOfStatus = status === undefined ? [] : [`status = ${status}`]
  return {
    name: names.join(' '),
    text: `select *, ${remindedAt} from (select ${fields} from ${status === undefined ? sources : sourcesOfMany}) i
      where ${['true', ...kept, ...searches, ...isOfStatus].join(' and ')} order by id desc limit $2`,
    values,
  }
}

/** An array: with a pattern, the generic plan expects so many matches that it reads the whole list. */
function among({ one, all }: Sought, kept: readonly string[], isAllWanted: boolean): string {
  if (isAllWanted) return `id = any (array(${all}))`
  return `id = any (array(
    with near as materialized (select i.id from (
        select i.* from invoice i where ${['true', ...kept].join(' and ')} order by i.id desc limit ${recent}) i
      where ${one} limit $2),
    rare as materialized (select count(*) < $2 as yes from near)
    select id from near where not (select yes from rare)
    union all select id from (${all}) all_matches where (select yes from rare)))`
}

/** The invoices and credit notes with exactly this number, in any case. */
export function readNumbered(today: string, number: string): PreparedStatement<ListedInvoiceRow> {
  return {
    name: 'numbered invoices',
    text: `select *, ${remindedAt} from (select ${fields} from ${sources} where lower(i.number) = lower($2)) i`,
    values: [today, number],
  }
}

interface LineRow {
  readonly position: number
  readonly source: InvoiceLine['source']
  readonly text: string
  readonly quantity: bigint
  readonly unit: Unit
  readonly unitPrice: bigint
  readonly exact: bigint
  readonly net: bigint
  readonly tax: Tax
  readonly model: string | null
  readonly direction: InvoiceLine['direction']
  readonly entry: { readonly id: string; readonly version: number } | null
  readonly letters: { readonly month: string; readonly markup: number } | null
  readonly creditsPosition: number | null
}

export function readLines(id: string): PreparedStatement<LineRow> {
  return {
    name: 'invoice lines',
    text: `select position, source, text, quantity, unit, unit_price as "unitPrice", exact, net, model, direction,
        json_build_object('category', tax_category, 'rate', tax_rate, 'reason', tax_reason) as tax,
        case when entry_id is not null then json_build_object('id', entry_id, 'version', entry_version) end as entry,
        case when month is not null then json_build_object('month', month, 'markup', markup) end as letters,
        credits_position as "creditsPosition"
      from invoice_line where invoice_id = $1 order by position`,
    values: [id],
  }
}

/** The last day that an invoice bills: of its entries, unless they have changed since, and of its months of letters. */
export function readLastBilled(id: string): PreparedStatement<{ readonly day: string | null }> {
  return {
    name: 'last billed day',
    text: `select max(coalesce(t.date, e.date, last_day(l.month))) as day from invoice_line l
        left join time_entry t on t.id = l.entry_id and t.version = l.entry_version
        left join expense e on e.id = l.entry_id and e.version = l.entry_version
      where l.invoice_id = $1`,
    values: [id],
  }
}

export interface PaymentRow {
  readonly id: string
  readonly date: string
  readonly amount: bigint
  readonly method: PaymentMethod
  readonly reference: string
  readonly reverses_id: string | null
  readonly at: Date
}

export function readPayments(id: string): PreparedStatement<PaymentRow> {
  return {
    name: 'invoice payments',
    text: `select id, date, amount, method, reference, reverses_id, at from invoice_payment where invoice_id = $1 order by number`,
    values: [id],
  }
}

/** What the issued credit notes of an invoice take off its lines, by their positions. */
export function readCreditedLines(
  id: string,
): PreparedStatement<{ readonly position: number; readonly quantity: bigint; readonly net: bigint }> {
  return {
    name: 'credited lines',
    text: `select l.credits_position as position, sum(l.quantity) as quantity, sum(l.net) as net
      from invoice c join invoice_line l on l.invoice_id = c.id
      where c.credits_id = $1 and c.state = 'issued' group by l.credits_position`,
    values: [id],
  }
}

/** The same of its taxes, by category and rate. */
export function readCreditedTaxes(id: string): PreparedStatement<CreditedTax> {
  return {
    name: 'credited taxes',
    text: `select t.category, t.rate, sum(t.net) as net, sum(t.tax) as tax
      from invoice c cross join lateral jsonb_to_recordset(c.taxes) as t(category text, rate integer, net numeric, tax numeric)
      where c.credits_id = $1 and c.state = 'issued' group by t.category, t.rate`,
    values: [id],
  }
}

export interface DisputeRow {
  readonly id: string
  readonly amount: bigint
  readonly status: 'open' | 'settled' | 'withdrawn'
  readonly due: string | null
}

/** The disputes that name an invoice by its number. */
export function readDisputes(id: string): PreparedStatement<DisputeRow> {
  return {
    name: 'invoice disputes',
    text: `select d.id, d.amount, d.status, d.due from invoice i join dispute d on d.client_id = i.client_id
      where i.id = $1 and d.archived_at is null and names_invoice(d.invoice, i.number) order by d.created_at desc, d.id desc`,
    values: [id],
  }
}

/** The credit notes of an invoice that are not void. */
export function readCreditNotes(
  id: string,
): PreparedStatement<{ readonly id: string; readonly number: string | null }> {
  return {
    name: 'credit notes',
    text: `select id, number from invoice where credits_id = $1 and state <> 'void' order by id`,
    values: [id],
  }
}
