import { isDeepStrictEqual } from 'node:util'
import type { AuditedAction, RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { newId } from '../access/new-id.ts'
import { parseMoney } from '../billing/prices/money.ts'
import { parseIsoTime, today } from '../platform/text/calendar.ts'
import { codeOf, violates } from '../platform/database/failure.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { Problem } from '../platform/problems.ts'
import { minorUnit } from './arithmetic.ts'
import * as changes from './changes-store.ts'
import { moneyWith, openOf } from './present.ts'
import type { PaymentBody } from './schema.ts'
import type { InvoiceSettings } from './settings.ts'
import type { PaymentRow } from './store.ts'
import type { StoredInvoice, StoredInvoices } from './stored.ts'

interface PaymentNeeds {
  readonly access: RecordAccess
  readonly settings: Pick<InvoiceSettings, 'timeZone'>
  readonly stored: StoredInvoices
}

/** The code of keep_invoice_payment(). It names the column at fault. */
const paymentRefused = 'TG005'

/** Records payments. */
export function createPayments({ access, settings, stored }: PaymentNeeds) {
  return { pay }

  async function pay(visit: Visit, id: string, body: PaymentBody, key: string | undefined): Promise<StoredInvoice> {
    const audited: AuditedAction = { action: 'invoice_paid', noun: 'invoice', nounId: id }
    const paymentId = newId(visit, `/invoices/${id}/payments`, key)
    const before = await stored.find(visit, id, audited)
    const payment = { id: paymentId, ...amountOf(body, before), date: dateIn(body, before, settings.timeZone) }
    const { method = 'transfer', reference = '' } = body
    await access
      .as(visit, [changes.insertPayment(visit, id, { ...payment, method, reference })])
      .catch(async (error: unknown) => {
        const now = await stored.find(visit, id, audited)
        return access.decline(visit, audited, refusedPayment(error, payment.amount, now))
      })
    const after = await stored.find(visit, id, audited)
    const kept = after.payments.find((each) => each.id === paymentId)
    // A retry with the same key records nothing, so it must not seem to have recorded something else.
    const asked = { amount: payment.amount, date: payment.date, reversesId: payment.reversesId, method, reference }
    if (!kept || !isSame(kept, asked)) return access.decline(visit, audited, otherPayment())
    return after
  }
}

type Asked = Pick<PaymentRow, 'amount' | 'date' | 'method' | 'reference'> & { readonly reversesId: string | null }

function isSame(kept: PaymentRow, asked: Asked): boolean {
  const { amount, date, method, reference, reverses_id } = kept
  return isDeepStrictEqual({ amount, date, method, reference, reversesId: reverses_id }, asked)
}

/** The amount, or that of the payment to take back with the sign reversed. Throws Problem `invalid_field`. */
function amountOf({ amount, reverses }: PaymentBody, { row, payments }: StoredInvoice) {
  if ((amount === undefined) === (reverses === undefined)) {
    throw new Problem('invalid_field', 'Send either amount or reverses.', { field: 'amount' })
  }
  if (reverses !== undefined) {
    const mistaken = payments.find(({ id }) => id === reverses)
    if (mistaken === undefined || !isUuid(reverses)) throw noPayment()
    return { amount: -mistaken.amount, reversesId: reverses }
  }
  return { amount: amountIn(amount ?? '', row.decimals), reversesId: null }
}

function amountIn(text: string, decimals: number): bigint {
  const amount = readMoney(text)
  if (amount === 0n) throw badAmount('must not be 0')
  if (amount % minorUnit(decimals) !== 0n) throw badAmount(`must have at most ${decimals} decimals`)
  return amount
}

function readMoney(text: string): bigint {
  try {
    return parseMoney(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw badAmount(error.message)
  }
}

/** A day since the invoice was issued, or since the payment that is reversed. A draft has neither: it is refused as one. */
function dateIn({ date, reverses }: PaymentBody, { row, payments }: StoredInvoice, timeZone: string): string {
  const [first, last] = [payments.find(({ id }) => id === reverses)?.date ?? row.issued_on ?? '', today(timeZone)]
  if (date.length === 10 && parseIsoTime(date) !== undefined && date >= first && date <= last) return date
  const since = reverses === undefined ? 'the day of issue' : 'the day of the payment'
  const span = first === '' ? 'no later than today' : `from ${first}, ${since}, to today`
  throw new Problem('invalid_field', `The field date must be a day ${span}, ${last} (time zone ${timeZone}).`, {
    field: 'date',
  })
}

/** Throws an error that is not a refusal. */
function refusedPayment(error: unknown, amount: bigint, { row }: StoredInvoice): Problem {
  const column = error instanceof Error && 'column' in error ? error.column : undefined
  if (isSecondReversal(error)) return new Problem('conflict', 'This payment was already reversed.', { cause: error })
  if (codeOf(error) !== paymentRefused) throw error
  if (column === 'amount') return badAmount(notOpen(amount, openOf(row), moneyWith(row.decimals)))
  if (column === 'reverses_id') return noPayment()
  return new Problem('conflict', 'Only an issued invoice can be paid.', { cause: error })
}

/** Why an amount is not accepted. What is open is negative if the invoice is overpaid. */
function notOpen(amount: bigint, open: bigint, money: (amount: bigint) => string): string {
  if (open === 0n) return 'cannot be recorded: nothing is open, and nothing was overpaid'
  if (open > 0n && amount > 0n) return `must be at most what is open: ${money(open)}`
  if (open > 0n) return `must not be negative: nothing was overpaid, and ${money(open)} is open`
  if (amount > 0n) return `must be negative, for a return: nothing is open, and ${money(-open)} was overpaid`
  return `must return at most what was overpaid: ${money(-open)}`
}

function isSecondReversal(error: unknown): boolean {
  return violates(error, 'invoice_payment_reverses_id_key')
}

function badAmount(reason: string): Problem {
  return new Problem('invalid_field', `The field amount ${reason}.`, { field: 'amount' })
}

function otherPayment(): Problem {
  return new Problem('conflict', 'This Idempotency-Key was used for another payment. Nothing was recorded.')
}

function noPayment(): Problem {
  return new Problem('invalid_field', 'The invoice has no such payment to reverse.', { field: 'reverses' })
}
