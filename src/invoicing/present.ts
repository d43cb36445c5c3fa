import { formatMoney } from '../billing/prices/money.ts'
import { formatDecimal } from '../platform/text/decimal.ts'
import type { Tax } from './arithmetic.ts'
import { standardFault } from './issue/european-union.ts'
import { quantityLeft } from './drafts/credit-lines.ts'
import { priceDecimals, type InvoiceLine } from './document.ts'
import type { SentMail } from './mail/schema.ts'
import type { InvoiceMailRow } from './mail/store.ts'
import type { ListedInvoice, ShownInvoice } from './schema.ts'
import type { Seller } from './settings.ts'
import type { ListedInvoiceRow, PaymentRow } from './store.ts'
import type { StoredInvoice } from './stored.ts'

type Money = (amount: bigint) => string

/** An amount with at least the decimals of its currency. */
export function moneyWith(decimals: number): Money {
  return (amount) => {
    const [whole = '', fraction = ''] = formatMoney(amount).split('.')
    const shown = fraction.padEnd(decimals, '0')
    return shown === '' ? whole : `${whole}.${shown}`
  }
}

export function presentListedInvoice(row: ListedInvoiceRow): ListedInvoice {
  const money = moneyWith(row.decimals)
  return {
    id: row.id,
    kind: row.kind,
    number: row.number,
    status: row.status,
    payer: {
      kind: row.client_id === null ? 'account' : 'client',
      id: row.client_id ?? row.account_id ?? '',
      name: row.payer_name,
    },
    month: row.month?.slice(0, 7) ?? null,
    currency: row.currency,
    issued_on: row.issued_on,
    due_on: row.due_on,
    reminded_at: row.reminded_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version: row.version,
    net: money(row.net),
    tax: money(row.tax),
    gross: money(row.gross),
    paid: money(row.paid),
    credited: money(row.credited),
    open: money(openOf(row)),
  }
}

/** The open amount; drafts and credit notes have none. */
export function openOf({ kind, status, gross, paid, credited }: ListedInvoiceRow): bigint {
  const isPayable = kind === 'invoice' && status !== 'draft' && status !== 'void'
  return isPayable ? gross - paid - credited : 0n
}

export function presentInvoice({
  row,
  document,
  payments,
  creditNotes,
  mails,
  disputes,
  credited,
  faults,
}: StoredInvoice): ShownInvoice {
  const money = moneyWith(document.decimals)
  const { buyer, totals } = document
  const canBeCredited = row.kind === 'invoice' && row.state === 'issued'
  return {
    ...presentListedInvoice(row),
    rounding: money(totals.rounding),
    credits: row.credits_id === null ? null : { id: row.credits_id, number: document.creditsNumber },
    credit_notes: creditNotes.map(({ id, number }) => ({ id, number })),
    note: document.note,
    buyer: {
      name: buyer.name,
      address: buyer.address,
      tax_number: buyer.taxNumber,
      reference: buyer.reference,
      order_number: buyer.orderNumber,
    },
    days_to_pay: row.days_to_pay,
    supply: document.supply && { ...document.supply, is_stated: row.supply_from !== null },
    seller: document.seller && presentSeller(document.seller),
    xml_fault: standardFault(document) ?? null,
    before_issue: faults.map(({ text, stops }) => ({ text, stops })),
    lines: document.lines.map((line) => presentLine(line, money, canBeCredited ? quantityLeft(line, credited) : null)),
    taxes: totals.taxes.map((group) => ({ ...presentTax(group), net: money(group.net), tax: money(group.tax) })),
    payments: payments.map((payment) => presentPayment(payment, money)),
    sent: mails.map(presentMail),
    disputes: disputes.map(({ amount, ...dispute }) => ({ ...dispute, amount: money(amount) })),
  }
}

/** How the firm writes numbers is part of its paper, not of its data. */
function presentSeller(seller: Seller): NonNullable<ShownInvoice['seller']> {
  const { name, address, country = null, email, phone, website, tax_number, bank } = seller
  return { name, address: [...address], country, email, phone, website, tax_number, bank }
}

function presentLine(line: InvoiceLine, money: Money, left: bigint | null): ShownInvoice['lines'][number] {
  return {
    position: line.position,
    source: line.source,
    text: line.text,
    quantity: formatDecimal(line.quantity, 6),
    unit: line.unit,
    unit_price: formatDecimal(line.unitPrice, priceDecimals(line.unit)),
    exact: money(line.exact),
    net: money(line.net),
    rounding: money(line.net - line.exact),
    tax: presentTax(line.tax),
    quantity_left: left === null ? null : formatDecimal(left, 6),
    entry: line.entry?.id ?? null,
    month: line.letters?.month.slice(0, 7) ?? null,
    credits_position: line.creditsPosition,
  }
}

function presentTax({ category, rate, reason }: Tax) {
  return { category, rate: formatDecimal(BigInt(rate), 2), reason }
}

function presentMail(mail: InvoiceMailRow): SentMail {
  const { id, kind, state, recipient: to, copy_to: cc, subject, message, digest: file_digest, by, by_name: name } = mail
  const sender = by === null ? null : { id: by, name: name ?? '' }
  return { id, kind, state, to, cc, subject, message, file_digest, at: mail.at.toISOString(), by: sender }
}

function presentPayment(payment: PaymentRow, money: Money): ShownInvoice['payments'][number] {
  const { id, date, amount, method, reference, reverses_id: reverses, at } = payment
  return { id, date, amount: money(amount), method, reference, reverses, recorded_at: at.toISOString() }
}
