import type { PreparedStatement } from '../platform/database/pipeline.ts'
import type { InvoiceLine } from './document.ts'
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
        i.buyer_tax_number, i.supply_from, i.supply_to, s.first_day, s.last_day, coalesce(c.address, a.billing_address) as payer_address,
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
  /** A part of the number or of the payer's name, in any case. */
  readonly q: string | undefined
  /** A part of it, in any case. */
  readonly number: string | undefined
  /** The id of the last invoice of the previous page. */
  readonly after: string | undefined
}

const numbered = (pattern: string) => `select id from invoice where number ilike ${pattern}`
/** Invoices by a part of their number or of the payer's name. Each part of the union has an index. */
const found = (pattern: string) => `${numbered(pattern)}
  union all select id from invoice where buyer_name ilike ${pattern}
  union all select i.id from invoice i where i.buyer_name is null and coalesce(
    (select name from client where id = i.client_id),
    (select coalesce(billing_name, name) from account where id = i.account_id)) ilike ${pattern}`
/** An array: with a pattern, the generic plan expects so many matches that it reads the whole list. */
const among = (ids: string) => `id = any (array(${ids}))`

const conditions = [
  ['clientId', (it) => `client_id = ${it}`],
  ['accountId', (it) => `account_id = ${it}`],
  ['q', (it) => among(found(it))],
  ['number', (it) => among(numbered(it))],
  ['after', (it) => `id < ${it}`],
  ['status', (it) => `status = ${it}`],
] as const satisfies readonly (readonly [keyof InvoiceFilter, (parameter: string) => string])[]

/**
 * Newest first. Each combination of conditions is a statement with a plan of its own. A status is not stored:
 * filtering by it computes those of all invoices.
 */
export function readInvoices(today: string, filter: InvoiceFilter, most: number): PreparedStatement<ListedInvoiceRow> {
  const given = conditions.flatMap(([name, condition]) => {
    const value = filter[name]
    return value === undefined ? [] : [{ name, condition, value: isPart(name) ? patternOf(value) : value }]
  })
  const restrictions = given.map(({ condition }, index) => condition(`$${index + 3}`))
  return {
    name: ['invoices', ...given.map(({ name }) => name)].join(' '),
    text: `select *, ${remindedAt} from (select ${fields} from ${filter.status === undefined ? sources : sourcesOfMany}) i
      where ${['true', ...restrictions].join(' and ')} order by id desc limit $2`,
    values: [today, most, ...given.map(({ value }) => value)],
  }
}

const isPart = (name: keyof InvoiceFilter): boolean => name === 'number' || name === 'q'

/** A LIKE pattern for a text anywhere. */
const patternOf = (part: string): string => `%${part.trim().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

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
