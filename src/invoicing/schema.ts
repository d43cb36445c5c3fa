import { sentMail } from './mail/schema.ts'
import { Type } from 'typebox'
import { body, nullable } from '../platform/http/schema-parts.ts'

/** The JSON schemas of invoices. Types, validation and the API document derive from them. */

const id = Type.String({ format: 'uuid', description: 'A UUIDv7 in lower case.' })
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })
const day = (description: string) => Type.String({ format: 'date', description })
const line = (maxLength: number, description: string) =>
  Type.String({ format: 'line', minLength: 1, maxLength, description })
const text = (maxLength: number, description: string) => Type.String({ format: 'text', maxLength, description })
const decimal = (description: string) => Type.String({ maxLength: 40, description })
const amount = (description: string) => Type.String({ description })

const units = ['hour', 'day', 'month', 'piece', 'lump_sum', 'kilometre', 'million_tokens'] as const
/** Those of typed lines, that of time, and that of what a model is charged for besides tokens. */
const allUnits = [...units, 'minute', 'thousand_uses'] as const
export type Unit = (typeof allUnits)[number]
const methods = ['transfer', 'card', 'cash', 'direct_debit', 'other'] as const
export type PaymentMethod = (typeof methods)[number]

const newLine = body({
  text: line(500, 'What the line is for.'),
  quantity: decimal('A decimal number above zero with at most 6 decimals.'),
  unit: Type.Enum([...units]),
  unit_price: decimal('The price of one unit, without tax: a decimal number with at most 6 decimals, not negative.'),
  tax: Type.Optional(text(100, 'The id of a tax of the configuration. Default: its first.')),
})
export type NewLine = Type.Static<typeof newLine>

const lines = Type.Array(newLine, { maxItems: 500, description: 'The typed lines, in order.' })
const note = text(2000, 'A text below the lines.')
const buyer = body({
  name: Type.Optional(nullable(line(200, 'Null: the name of the client, or the billing name of the account.'))),
  address: Type.Optional(
    nullable(text(500, 'The postal address without the name. Null: that of the client or the account.')),
  ),
  tax_number: Type.Optional(nullable(line(50, "The buyer's tax number. Null: that of the account, or none."))),
  reference: Type.Optional(nullable(line(100, 'What the buyer wants on the invoice to recognise it (BT-10).'))),
  order_number: Type.Optional(nullable(line(100, "The number of the buyer's order (BT-13)."))),
})
const daysToPay = Type.Union([
  Type.Integer({
    minimum: 0,
    maximum: 365,
    description: 'The days from issue to due date. Null: `invoicing.due_days`.',
  }),
  Type.Null(),
])
const supplyDays = {
  from: day('The first day of supply: `2026-03-01`.'),
  to: day('The last day of supply, which may be the same.'),
}
const supply = nullable(body(supplyDays))
export type Buyer = Type.Static<typeof buyer>

export const newInvoiceBody = body({
  client: Type.Optional(text(36, 'The id of the client that pays.')),
  account: Type.Optional(text(36, 'Instead of `client`: the id of the account that pays.')),
  month: Type.Optional(
    Type.String({
      pattern: '^2\\d{3}-(0[1-9]|1[0-2])$',
      description:
        'A past month (UTC) of the account: `2026-03`. Its usage is billed, with one line for each model, direction and price.',
    }),
  ),
  unbilled_until: Type.Optional(
    text(
      10,
      'With a client, a day: `2026-03-31`. Everything unbilled up to that day is billed, with one line for each time entry, expense ' +
        'and past month (UTC) of letters. The typed lines follow. Lines with a tax of category `O` are not billed with others: they ' +
        'stay unbilled, and the next draft has them alone. With typed lines, those decide which are billed.',
    ),
  ),
  lines: Type.Optional(lines),
  note: Type.Optional(note),
  buyer: Type.Optional(
    body(buyer.properties, { description: 'Absent fields are copied from the billing details of the client.' }),
  ),
  days_to_pay: Type.Optional(daysToPay),
  supply: Type.Optional(supply),
})
export type NewInvoice = Type.Static<typeof newInvoiceBody>

export const invoiceChange = body({
  lines: Type.Optional(Type.Array(newLine, { maxItems: 500, description: 'Replace the typed lines.' })),
  left_out: Type.Optional(
    Type.Array(text(36, 'The `entry` of a line for time or an expense, or the `month` of one for letters.'), {
      maxItems: 10_000,
      description:
        'Proposed lines to leave out, so that another invoice can bill them. One that is not on the draft is ignored.',
    }),
  ),
  note: Type.Optional(note),
  buyer: Type.Optional(buyer),
  days_to_pay: Type.Optional(daysToPay),
  supply: Type.Optional(supply),
})
export type InvoiceChange = Type.Static<typeof invoiceChange>

export const paymentBody = body({
  date: day('The day of the payment, from the day of issue to today in the time zone of the firm: `2026-03-12`.'),
  amount: Type.Optional(
    decimal('At most the open amount. Negative: returned to the payer, at most the overpaid amount.'),
  ),
  reverses: Type.Optional(text(36, 'Instead of `amount`: the id of a payment that was recorded by mistake.')),
  method: Type.Optional(Type.Enum([...methods], { description: 'Default `transfer`.' })),
  reference: Type.Optional(text(200, 'The text of the transfer.')),
})
export type PaymentBody = Type.Static<typeof paymentBody>

export const creditNoteBody = body({
  lines: Type.Optional(
    Type.Array(
      body({
        position: Type.Integer({ minimum: 1, maximum: 10_000, description: 'The line of the invoice.' }),
        quantity: Type.Optional(
          decimal('At most what earlier credit notes left of the line, which is also the default.'),
        ),
      }),
      { minItems: 1, maxItems: 10_000, description: 'The lines to credit. Default: everything not yet credited.' },
    ),
  ),
  note: Type.Optional(note),
})
export type CreditNoteBody = Type.Static<typeof creditNoteBody>

const statuses = ['draft', 'open', 'partly_paid', 'overdue', 'paid', 'credited', 'issued', 'void'] as const
export type InvoiceStatus = (typeof statuses)[number]
const status = Type.Enum([...statuses], {
  description:
    '`issued` is a credit note that was issued; an invoice then is `open` until it is paid or credited, and `partly_paid` once some of it is paid.',
})

export const invoiceQuery = body({
  status: Type.Optional(Type.Enum([...statuses])),
  client: Type.Optional(text(36, 'The id of a client.')),
  account: Type.Optional(text(36, 'The id of an account.')),
  q: Type.Optional(
    text(
      200,
      'Words of the number or of the name of the payer, or parts of them, in any spelling, as in `GET /search`. The invoice with exactly this number comes first.',
    ),
  ),
  number: Type.Optional(
    text(
      60,
      'Part of the number of an invoice or credit note, with or without its punctuation. That with exactly this number comes first.',
    ),
  ),
  cursor: Type.Optional(text(36, '`next` of the previous page.')),
})
export type InvoiceQuery = Type.Static<typeof invoiceQuery>

export const draftOptionsQuery = body({
  client: Type.Optional(text(36, 'The id of the client that will pay.')),
  account: Type.Optional(text(36, 'Instead of `client`: the id of the account that will pay.')),
})
export type DraftOptionsQuery = Type.Static<typeof draftOptionsQuery>

export const exportQuery = body({
  from: text(10, 'The first day of issue: `2026-01-01`.'),
  to: text(10, 'The last day of issue.'),
})
export type ExportQuery = Type.Static<typeof exportQuery>

const kind = Type.Enum(['invoice', 'credit_note'])
const payer = Type.Object({ kind: Type.Enum(['client', 'account']), id, name: Type.String() })
const ofInvoice = Type.Object({ id, number: nullable(Type.String()) })
const money = {
  net: amount('Without tax.'),
  tax: amount('The tax.'),
  gross: amount('With tax.'),
  paid: amount('The sum of the payments.'),
  credited: amount('The sum of the issued credit notes.'),
  open: amount('The amount still to be paid. Negative: the overpaid amount.'),
}
const shared = {
  id,
  kind,
  number: nullable(Type.String({ description: 'Null until it is issued.' })),
  status,
  payer,
  month: nullable(Type.String({ description: 'The month of the account that it bills: `2026-03`.' })),
  currency: Type.String(),
  issued_on: nullable(day('The date of the invoice.')),
  due_on: nullable(day('The due date.')),
  reminded_at: nullable(Type.String({ format: 'date-time', description: 'When the payer was last reminded.' })),
  created_at: time,
  updated_at: time,
  version: Type.Integer({ minimum: 1, description: 'The ETag is the version in quotes: `"3"`.' }),
}

const listedInvoice = Type.Object({ ...shared, ...money })
export type ListedInvoice = Type.Static<typeof listedInvoice>

export const invoiceList = Type.Object({
  invoices: Type.Array(listedInvoice, { description: 'The newest first.' }),
  next: nullable(Type.String({ description: 'The `cursor` of the next page; null on the last.' })),
})
export type InvoiceList = Type.Static<typeof invoiceList>

const tax = {
  category: Type.Enum(['S', 'Z', 'E', 'AE', 'K', 'G', 'O'], { description: 'A category of UNCL 5305.' }),
  rate: Type.String({ description: 'In per cent.' }),
  reason: nullable(Type.String({ description: 'Why no tax is due.' })),
}
const shownLine = Type.Object({
  position: Type.Integer(),
  source: Type.Enum(['usage', 'fee', 'credit', 'time', 'expense', 'letters'], {
    description:
      '`usage`: of an account, from the ledger. `fee`: typed. `time` and `expense`: entries of a client. `letters`: what drafting a ' +
      "client's letters cost in a month. `credit`: of a credit note.",
  }),
  text: Type.String(),
  quantity: Type.String(),
  unit: Type.Enum([...allUnits]),
  unit_price: Type.String({ description: 'The price of one unit; for `minute`, of 60.' }),
  exact: amount('Quantity times price, to 10⁻¹² of the currency unit.'),
  net: amount('`exact`, rounded to the minor unit of the currency, half to even.'),
  rounding: amount('`net` less `exact`.'),
  tax: Type.Object(tax),
  quantity_left: nullable(
    Type.String({ description: 'What can still be credited of an issued invoice; null for any other.' }),
  ),
  entry: nullable(Type.String({ description: 'The time entry or the expense that it bills.' })),
  month: nullable(Type.String({ description: 'The month of the letters that it bills: `2026-03`.' })),
  credits_position: nullable(Type.Integer({ description: 'The line of the invoice that this line credits.' })),
})
const taxGroup = Type.Object({
  ...tax,
  net: amount('The sum of its lines.'),
  tax: amount('`net` times the rate, rounded.'),
})
const buyerShown = {
  name: Type.String(),
  address: nullable(Type.String()),
  tax_number: nullable(Type.String()),
  reference: nullable(Type.String({ description: 'What the buyer wants on the invoice.' })),
  order_number: nullable(Type.String({ description: "The number of the buyer's order." })),
}

export const draftOptions = Type.Object({
  currency: Type.String(),
  decimals: Type.Integer({ description: 'The decimals of the currency.' }),
  taxes: Type.Array(Type.Object({ id: Type.String(), ...tax }), {
    description: 'The taxes of the configuration. The first is the default.',
  }),
  payer: nullable(payer),
  buyer: nullable(Type.Object(buyerShown, { description: 'The buyer, unless the draft states another.' })),
  days_to_pay: daysToPay,
  due_days: Type.Integer({ description: 'Of the configuration, for `days_to_pay` of null.' }),
  months: Type.Array(
    Type.Object({ month: Type.String({ description: '`2026-03`.' }), cost: amount('The cost of its usage.') }),
    { description: "The account's unbilled past months (UTC), newest first." },
  ),
  unbilled: nullable(
    Type.Object(
      {
        until: day('Today, for `unbilled_until` of a new draft.'),
        items: Type.Integer({ description: 'Time entries, expenses and months.' }),
        amount: amount('What the draft would bill, without tax.'),
      },
      { description: 'The unbilled work of a client; null if there is none, and for accounts.' },
    ),
  ),
})
export type DraftOptions = Type.Static<typeof draftOptions>

export const reportQuery = body({
  of: Type.Enum(['ageing', 'turnover'], { description: 'The table.' }),
})
export type ReportQuery = Type.Static<typeof reportQuery>

const owed = {
  not_due: amount('Not due yet.'),
  to_30: amount('1 to 30 days overdue.'),
  to_60: amount('31 to 60 days overdue.'),
  to_90: amount('61 to 90 days overdue.'),
  over_90: amount('More than 90 days overdue.'),
  total: amount('The sum of these.'),
  to_return: amount('The overpaid amount, which is in none of these.'),
}
export const invoiceReport = Type.Object({
  currency: Type.String({ description: "The firm's. Invoices in another one are left out." }),
  other_currencies: Type.Array(Type.String(), { description: 'Those of the issued invoices that are left out.' }),
  today: day("The day in the firm's time zone for which the ageing is."),
  ageing: Type.Object({
    total: Type.Object(owed),
    payers: Type.Array(Type.Object({ payer, ...owed }), { description: 'At most 200, the largest amounts first.' }),
    payer_count: Type.Integer({ description: 'All payers with something open.' }),
  }),
  turnover: Type.Array(
    Type.Object({
      month: Type.String({ description: 'By the date of the invoice: `2026-03`.' }),
      invoiced: amount('The invoices, without tax.'),
      credited: amount('The credit notes, without tax.'),
      net: amount('`invoiced` less `credited`.'),
    }),
    { description: 'The last 24 months, the oldest first.' },
  ),
})
export type InvoiceReport = Type.Static<typeof invoiceReport>

const payment = Type.Object({
  id,
  date: Type.String(),
  amount: Type.String(),
  method: Type.Enum([...methods]),
  reference: Type.String(),
  reverses: nullable(Type.String({ description: 'The payment that this one reverses.' })),
  recorded_at: time,
})
const dispute = Type.Object({
  id,
  amount: amount('The disputed amount.'),
  status: Type.Enum(['open', 'settled', 'withdrawn']),
  due: nullable(day('The day by which the firm has to answer.')),
})
const seller = Type.Object({
  name: Type.String(),
  address: Type.Array(Type.String()),
  email: nullable(Type.String()),
  phone: nullable(Type.String()),
  website: nullable(Type.String()),
  tax_number: nullable(Type.String()),
  country: nullable(Type.String({ description: 'Its code of ISO 3166-1.' })),
  bank: nullable(Type.Object({ name: Type.String(), iban: Type.String(), bic: nullable(Type.String()) })),
})

export const shownInvoice = Type.Object({
  ...shared,
  ...money,
  rounding: amount('The difference that rounding made to the exact sum of the lines.'),
  credits: nullable(Type.Object(ofInvoice.properties, { description: 'The invoice that a credit note corrects.' })),
  credit_notes: Type.Array(ofInvoice, { description: "The invoice's credit notes that are not void." }),
  note: Type.String(),
  buyer: Type.Object(buyerShown),
  days_to_pay: daysToPay,
  supply: nullable(
    Type.Object(
      {
        ...supplyDays,
        is_stated: Type.Boolean({ description: 'False if the days follow from what the draft bills.' }),
      },
      {
        description:
          'The days of supply: those that are stated, or those of the entries, of the month, or of the invoice that is credited. Null if it bills none; then it is issued with the day of its issue.',
      },
    ),
  ),
  seller: nullable(Type.Object(seller.properties, { description: 'The firm at issue; null for a draft.' })),
  xml_fault: nullable(Type.String({ description: 'Why it has no XML file, as a sentence; null if it has one.' })),
  before_issue: Type.Array(
    Type.Object({ text: Type.String(), stops: Type.Boolean({ description: 'Whether it prevents the issue.' }) }),
    {
      description:
        'What is wrong with a draft, as sentences. Its issue also checks that its PDF can show all characters.',
    },
  ),
  lines: Type.Array(shownLine),
  taxes: Type.Array(taxGroup),
  payments: Type.Array(payment),
  sent: Type.Array(sentMail, { description: 'The mails with it and its reminders, in order.' }),
  disputes: Type.Array(dispute, {
    description: 'The disputes of the client that name it, newest first. While one is open, no reminder is sent.',
  }),
})
export type ShownInvoice = Type.Static<typeof shownInvoice>
