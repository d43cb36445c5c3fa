import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moneyText } from './money.ts'

test('an amount is shown with the decimals of its currency and keeps every digit', () => {
  assert.equal(moneyText('1250.00', 'EUR'), '€1,250.00')
  assert.equal(moneyText('1250', 'JPY'), 'JP¥1,250')
  assert.equal(moneyText('1250.500', 'KWD'), 'KWD\u00a01,250.500')
  assert.equal(moneyText('0.000123456789', 'USD'), 'US$0.000123456789')
  assert.equal(moneyText('99999999999999999999.123456789012', 'GBP'), '£99,999,999,999,999,999,999.123456789012')
})

test('a text that is not an amount is shown as it is', () => {
  assert.equal(moneyText('12e3', 'EUR'), '12e3 EUR')
})
