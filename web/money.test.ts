import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moneyText, roundedMoneyText } from './money.ts'

test('an amount is shown with the decimals of its currency and keeps every digit', () => {
  assert.equal(moneyText('1250.00', 'EUR'), '€1,250.00')
  assert.equal(moneyText('1250', 'JPY'), 'JP¥1,250')
  assert.equal(moneyText('-0.005', 'EUR'), '-€0.005')
  assert.equal(moneyText('1250.500', 'KWD'), 'KWD\u00a01,250.500')
  assert.equal(moneyText('0.000123456789', 'USD'), 'US$0.000123456789')
  assert.equal(moneyText('99999999999999999999.123456789012', 'GBP'), '£99,999,999,999,999,999,999.123456789012')
})

test('a rounded amount has the decimals of its currency, half to even, however large it is', () => {
  assert.equal(roundedMoneyText('263.600000000001', 'USD'), 'US$263.60')
  assert.deepEqual(
    ['0.125', '0.135', '-0.125', '0.125000000001'].map((amount) => roundedMoneyText(amount, 'EUR')),
    ['€0.12', '€0.14', '-€0.12', '€0.13'],
  )
  assert.equal(roundedMoneyText('1250.5', 'JPY'), 'JP¥1,250')
  assert.equal(roundedMoneyText('99999999999999999999.995', 'GBP'), '£100,000,000,000,000,000,000.00')
})

test('a text that is not an amount is shown as it is', () => {
  assert.equal(moneyText('12e3', 'EUR'), '12e3 EUR')
  assert.equal(roundedMoneyText('12e3', 'EUR'), '12e3 EUR')
})
