import { parseMoney } from '../../billing/prices/money.ts'
import { Problem } from '../../platform/problems.ts'
import { checkDay } from './values.ts'
import type { ItemKind } from './kinds.ts'
import { shownMoney } from '../money.ts'
import { dispute, disputeChange, disputeList, newDispute } from '../schema.ts'

/** A client's dispute of an invoice: the amount, the deadline, the positions and the status. */
export const disputes: ItemKind = Object.freeze({
  noun: 'dispute',
  plural: 'disputes',
  columns: ['invoice', 'amount', 'due', 'position', 'status'],
  money: ['amount'],
  computed: { invoice_id: 'disputed_invoice(n.client_id, n.invoice)' },
  order: 'n.created_at desc, n.id desc',
  shape: dispute,
  listShape: disputeList,
  newBody: newDispute,
  changeBody: disputeChange,
  defaults: { position: '', status: 'open' },
  toColumns(body) {
    checkDay('due', body['due'])
    return typeof body['amount'] === 'string' ? { ...body, amount: amountOf(body['amount']) } : body
  },
  toFields: ({ invoice, amount, due, position, status }, currency) => ({
    invoice,
    amount: shownMoney(amount, currency),
    currency,
    // Revisions of earlier versions lack it.
    due: due ?? null,
    position,
    status,
  }),
  toStateFields: ({ invoice_id }) => ({ invoice_id }),
} satisfies ItemKind)

function amountOf(text: string): string {
  try {
    const amount = parseMoney(text)
    if (amount >= 0n) return amount.toString()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  throw new Problem('invalid_field', 'The field amount must be a decimal number of at least 0: 1250.00.', {
    field: 'amount',
  })
}
