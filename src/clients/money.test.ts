import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownMoney } from './money.ts'

const unit = 10n ** 12n

test('an amount has the decimals of its currency, and more if necessary', () => {
  const amount = (1250n * unit).toString()
  assert.equal(shownMoney(amount, 'EUR'), '1250.00')
  assert.equal(shownMoney(amount, 'JPY'), '1250')
  assert.equal(shownMoney(amount, 'KWD'), '1250.000')
  assert.equal(shownMoney((unit / 2n).toString(), 'JPY'), '0.5')
  assert.equal(shownMoney('1', 'USD'), '0.000000000001')
})

test('no amount is null', () => {
  assert.equal(shownMoney(null, 'EUR'), null)
})
