import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { exactUnits, nearestUnits, parseExactDecimal, product } from './exact-decimal.ts'

/** All ways to write `units` × 10^-12, with the point moved by `shift` places. */
function notations(units: bigint, shift: number): string[] {
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(20, '0')
  const pointAt = (place: number) => `${sign}${digits.slice(0, place)}.${digits.slice(place)}`
  const place = digits.length - 12
  return [
    pointAt(place),
    `${units}e-12`,
    `${units}E-0012`,
    `${pointAt(place + shift)}e${-shift}`,
    `${pointAt(place - shift)}0e${shift < 0 ? '' : '+'}${shift}`,
  ]
}

test('every notation of a number is read as exactly that number', () => {
  const units = fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n })
  fc.assert(
    fc.property(units, fc.integer({ min: -7, max: 7 }), (value, shift) => {
      for (const text of notations(value, shift)) assert.equal(exactUnits(parseExactDecimal(text), 12), value, text)
    }),
    draws({ test: 300, endure: 10_000 }),
  )
})

test('a product is exact, and rounded once, to the nearest unit, half to even', () => {
  const few = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n })
  fc.assert(
    fc.property(few, few, (one, other) => {
      const exact = product(parseExactDecimal(`${one}e-6`), parseExactDecimal(`${other}e-6`))
      assert.equal(exactUnits(exact, 12), one * other)
      const [rounded, million] = [nearestUnits(exact, 6), 1_000_000n]
      const error = one * other - rounded * million
      assert.ok(2n * (error < 0n ? -error : error) <= million)
      assert.ok(2n * (error < 0n ? -error : error) < million || rounded % 2n === 0n)
    }),
    draws({ test: 300, endure: 10_000 }),
  )
})

test('what a float would lose is kept, and what is finer than the unit is refused', () => {
  assert.equal(exactUnits(parseExactDecimal('1.5e-07'), 12), 150_000n)
  assert.equal(exactUnits(parseExactDecimal('9007199254740993e-12'), 12), 9_007_199_254_740_993n)
  assert.throws(() => exactUnits(parseExactDecimal('1e-13'), 12), /at most 12 decimals/)
  assert.equal(exactUnits(parseExactDecimal('10e-13'), 12), 1n)
  for (const text of ['', '.5', '5.', '+1', ' 1', '1,5', '1e', 'e5', '0x1', '1_0', 'NaN', '1e61', '1'.repeat(61)])
    assert.throws(() => parseExactDecimal(text), RangeError, JSON.stringify(text))
})
