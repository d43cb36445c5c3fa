import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { formatMoney, formatPrice, parseMoney, parsePrice } from './money.ts'

test('money is exact in 10⁻¹²', () => {
  assert.equal(parseMoney('25.00'), 25_000_000_000_000n)
  assert.equal(parseMoney('0.000000000001'), 1n)
  assert.equal(parseMoney('-0.1'), -100_000_000_000n)
  assert.equal(formatMoney(25_000_000_000_000n), '25')
  assert.equal(formatMoney(-1n), '-0.000000000001')
  // A float could not tell these two apart.
  assert.equal(formatMoney(parseMoney('9007199254740993.000000000001')), '9007199254740993.000000000001')
})

test('formatting and parsing round-trip every amount', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n - 10n ** 36n, max: 10n ** 36n - 1n }),
      (amount) => parseMoney(formatMoney(amount)) === amount,
    ),
    draws({ test: 200, endure: 1000 }),
  )
})

test('anything but an exact decimal is refused', () => {
  for (const text of ['', '1e3', '1,5', '+1', ' 1', '.5', '5.', '0x10', 'NaN', '0.0000000000001', '1_000']) {
    assert.throws(() => parseMoney(text), RangeError, JSON.stringify(text))
  }
})

test('a price per million tokens is 10⁻¹² of the unit per token', () => {
  assert.equal(parsePrice('0.10'), 100_000n)
  assert.equal(formatPrice(100_000n), '0.1')
  for (const text of ['0.0000001', '-1', '1000000.000001', 'free'])
    assert.throws(() => parsePrice(text), RangeError, text)
})
