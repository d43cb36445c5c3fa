import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DraftOptions, ShownInvoice } from '../../../src/invoicing/schema.ts'
import { setFirm } from '../../locale.ts'
import {
  amountsOf,
  emptyLine,
  isSameDraft,
  lineOfField,
  newValues,
  sentHead,
  sentLines,
  typedTotals,
  valuesOfDraft,
} from './draft-values.ts'

const taxes: DraftOptions['taxes'] = [
  { id: 'standard', category: 'S', rate: '19', reason: null },
  { id: 'reduced', category: 'S', rate: '8.1', reason: null },
]
const line = { ...emptyLine(taxes), text: 'Advice' }
const unit = 10n ** 12n
const fixed: ShownInvoice['lines'][number] = {
  position: 1,
  source: 'usage',
  text: 'fast: input tokens',
  quantity: '1.234568',
  unit: 'million_tokens',
  unit_price: '0.4',
  exact: '0.4938272',
  net: '0.49',
  rounding: '-0.0038272',
  tax: { category: 'S', rate: '19', reason: null },
  quantity_left: null,
  entry: null,
  month: null,
  credits_position: null,
}
const start: DraftOptions = {
  currency: 'EUR',
  decimals: 2,
  taxes,
  payer: null,
  buyer: null,
  days_to_pay: null,
  due_days: 30,
  months: [],
  unbilled: null,
}
const nobody = { name: 'Quay', address: null, tax_number: null, reference: null, order_number: null }

describe('the lines of a draft', () => {
  test('have exact amounts, as the firm writes them', () => {
    setFirm({ locale: 'de-CH', time_zone: 'UTC' })
    assert.deepEqual(amountsOf({ ...line, quantity: '3', price: '1’234.335' }, 2), {
      exact: 3_703_005_000_000_000n,
      net: 3_703n * unit,
    })
    setFirm({ locale: 'de-DE', time_zone: 'UTC' })
    assert.deepEqual(amountsOf({ ...line, quantity: '0,5', price: '1.234,5' }, 0), {
      exact: 617_250_000_000_000n,
      net: 617n * unit,
    })
    assert.equal(amountsOf({ ...line, quantity: '2', price: '1.250' }, 2), undefined, 'it could be two amounts')
    assert.throws(() => sentLines([line, { ...line, price: '1.250' }]), { field: 'lines[1].unit_price' })
    setFirm({ locale: 'en-GB', time_zone: 'UTC' })
  })

  test('have none while they are incomplete', () => {
    for (const [quantity, price] of [
      ['', '1'],
      ['1', ''],
      ['0', '1'],
      ['-1', '1'],
      ['1', '-1'],
      ['1', 'x'],
      ['1.0000001', '1'],
    ]) {
      assert.equal(
        amountsOf({ ...line, quantity: quantity ?? '', price: price ?? '' }, 2),
        undefined,
        `${quantity} ${price}`,
      )
    }
  })

  test('sum to totals with those for usage, and without incomplete ones', () => {
    const typed = [
      { ...line, quantity: '2', price: '10.005', tax: 'reduced' },
      { ...line, price: '' },
    ]
    const { net, tax, gross, rounding } = typedTotals([fixed], typed, { taxes, decimals: 2 })
    const cents = unit / 100n
    assert.deepEqual([net, tax, gross], [2050n * cents, 171n * cents, 2221n * cents])
    assert.equal(rounding, net - 493_827_200_000n - 20_010_000_000_000n)
  })

  test('keep a tax that is no longer configured: it counts, and another one is to be chosen before they are sent', () => {
    const shown = {
      ...fixed,
      source: 'fee' as const,
      quantity: '1',
      unit: 'piece' as const,
      unit_price: '100',
      tax: { category: 'S', rate: '7', reason: null } as const,
    }
    const { lines } = valuesOfDraft({ lines: [shown], note: '', buyer: nobody, days_to_pay: null, supply: null }, start)
    const { net, tax } = typedTotals([], lines, { taxes, decimals: 2 })
    assert.deepEqual([net, tax], [100n * unit, 7n * unit])
    assert.throws(() => sentLines(lines), { field: 'lines[0].tax' })
    const chosen = lines.map((each) => ({ ...each, tax: 'standard' }))
    assert.equal(typedTotals([], chosen, { taxes, decimals: 2 }).tax, 19n * unit)
    assert.equal(sentLines(chosen)[0]?.tax, 'standard')
    const known = valuesOfDraft(
      { lines: [{ ...shown, tax: fixed.tax }], note: '', buyer: nobody, days_to_pay: null, supply: null },
      start,
    )
    assert.deepEqual([known.lines[0]?.tax, known.lines[0]?.formerTax], ['standard', undefined])
  })

  test('can be a flat fee, which remains one when the draft is changed', () => {
    const fee = { ...line, unit: 'lump_sum', quantity: '2', price: '0.333333' } as const
    assert.deepEqual(amountsOf(fee, 2), { exact: 666_666_000_000n, net: 670_000_000_000n })
    const [sent] = sentLines([fee])
    assert.deepEqual([sent?.unit, sent?.unit_price], ['lump_sum', '0.333333'])
  })

  test('are sent without blank ones, and a refusal names the line that was sent', () => {
    const blank = emptyLine(taxes)
    const [first, second] = [
      { ...line, key: -1, price: '1,000.50' },
      { ...line, key: -2, price: 'x' },
    ]
    assert.deepEqual(sentLines([blank, first]), [
      { text: 'Advice', quantity: '1', unit: 'hour', unit_price: '1000.50', tax: 'standard' },
    ])
    assert.deepEqual(lineOfField('lines[1].unit_price', [first, blank, second]), { key: -2, name: 'unit_price' })
    assert.equal(lineOfField('buyer.name', [first]), undefined)
  })
})

test('what is unsaved is what differs, and only that is sent of the note and the buyer', () => {
  const before = { ...newValues(taxes), note: 'Thank you.', address: 'Bristol' }
  assert.ok(isSameDraft(before, { ...before, lines: [] }))
  assert.ok(!isSameDraft(before, { ...before, lines: [line] }))
  assert.deepEqual(sentHead(before, before), {})
  assert.deepEqual(sentHead({ ...before, note: '', address: ' ', name: 'Acme Ltd' }, before), {
    note: '',
    buyer: { name: 'Acme Ltd', address: null },
  })
  const billed = { ...before, reference: 'Dept. 7', daysToPay: '10' }
  assert.deepEqual(sentHead(billed, before), { buyer: { reference: 'Dept. 7' }, days_to_pay: 10 })
  assert.deepEqual(sentHead(before, billed), { buyer: { reference: null }, days_to_pay: null })
  assert.throws(() => sentHead({ ...before, daysToPay: 'ten' }, before), { field: 'days_to_pay' })
})
