import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Value } from 'typebox/value'
import * as schema from '../src/clients/schema.ts'
import { billingFields, bodyOf, meansSame, nouns, sentBody, valuesOf } from './fields.ts'
import { setFirm } from './locale.ts'

const { client, note, dispute, letter } = nouns

describe('a form', () => {
  test('shows null as an empty field, and a consultant by id', () => {
    const record = { name: 'N', reference: null, email: 'a@b.example', consultant: { id: 'c', name: 'C' }, version: 3 }
    assert.deepEqual(valuesOf(client.fields, record), {
      name: 'N',
      reference: '',
      email: 'a@b.example',
      address: '',
      consultant_id: 'c',
    })
    assert.deepEqual(valuesOf(note.fields, { date: '2026-03-12', participants: ['A', 'B'], text: 'T' }).participants, [
      'A',
      'B',
    ])
  })

  test('sends only the changed fields', () => {
    const before = { name: 'N', reference: 'R', email: '', address: '', consultant_id: 'c' }
    assert.deepEqual(bodyOf(client.fields, { ...before, reference: '' }, before), { reference: null })
    assert.deepEqual(bodyOf(client.fields, { ...before }, before), {})
    const participants = ['A']
    const written = { date: '2026-03-12', participants, text: '' }
    assert.deepEqual(bodyOf(note.fields, { ...written, participants: [...participants] }, written), {})
    assert.deepEqual(bodyOf(note.fields, { ...written, participants: ['A', 'B'] }, written), {
      participants: ['A', 'B'],
    })
  })

  test('accepts an amount as it is displayed', () => {
    for (const [written, sent] of [
      ['1,250.00', '1250.00'],
      ['−1,250', '-1250'],
      ['−5', '-5'],
      [' 12,345,678 ', '12345678'],
      ['1 234.56', '1234.56'],
      ['1,25', '1,25'],
      ['1.250,00', '1.250,00'],
    ] as const) {
      assert.deepEqual(bodyOf(dispute.fields, { amount: written }, {}), { amount: sent })
    }
  })

  test('reads an amount in the locale of the firm, and refuses one that could be two', (t) => {
    t.after(() => setFirm({ locale: 'en-GB', time_zone: 'UTC' }))
    setFirm({ locale: 'de-DE', time_zone: 'UTC' })
    for (const written of ['1.234,56', '1234,56', '1,234.56', '1234.56']) {
      assert.deepEqual(bodyOf(dispute.fields, { amount: written }, {}), { amount: '1234.56' })
    }
    assert.throws(() => bodyOf(dispute.fields, { amount: '1.234' }, {}), {
      message: 'Amount could be 1234 or 1.234: write 1234 or 1.2340.',
      field: 'amount',
    })
    const shown = valuesOf(dispute.fields, { amount: '1.250' })
    const empty = { invoice: '', status: '', due: null, position: '' }
    assert.deepEqual(bodyOf(dispute.fields, shown, {}), { ...empty, amount: '1.2500' })
    assert.deepEqual(bodyOf(dispute.fields, shown, shown), {})
  })

  test('treats an amount as unchanged if only its notation differs', () => {
    const [invoice, amount] = dispute.fields
    assert.ok(invoice && amount)
    for (const [a, b] of [
      ['5', '5.00'],
      ['1,250.5', '1250.50'],
      [' 007', '7.0'],
      ['0.10', '0.1'],
      ['0', '0.00'],
      ['x', 'x'],
    ] as const) {
      assert.ok(meansSame(amount, a, b), a)
    }
    for (const [a, b] of [
      ['5', '50'],
      ['5', '5.000000000001'],
      ['9007199254740993', '9007199254740992'],
      ['', '0.00'],
    ] as const) {
      assert.ok(!meansSame(amount, a, b), a)
    }
    assert.ok(!meansSame(invoice, '5', '5.00'), 'an invoice number is text')
  })

  test('has exactly the fields that the server accepts, with its limits', () => {
    const pairs = [
      [{ fields: [...client.fields, ...billingFields] }, schema.newClient],
      [note, schema.newNote],
      [dispute, schema.newDispute],
      [letter, schema.newLetter],
    ] as const
    for (const [{ fields }, body] of pairs) {
      assert.deepEqual(fields.map(({ name }) => name).toSorted(), Object.keys(body.properties).toSorted())
    }
    const made = bodyOf(dispute.fields, { invoice: 'I', amount: '1.00', status: 'open', position: '' }, {})
    assert.ok(Value.Check(schema.newDispute, made))
    assert.equal(Value.Check(schema.newDispute, { ...made, more: 1 }), false)
  })

  test('sends whole numbers and switches as such, and leaves an empty rate to the firm', () => {
    const { fields } = nouns.time_entry
    const typed = { date: '2026-03-12', minutes: '20', text: 'Advice', rate: '', billable: 'false' }
    const { rate: _, ...rest } = typed
    assert.deepEqual(bodyOf(fields, typed, {}), rest)
    assert.deepEqual(sentBody(fields, rest), { ...rest, minutes: 20, billable: false })
    assert.deepEqual(sentBody(fields, { minutes: 'many' }), { minutes: 'many' })
  })
})
