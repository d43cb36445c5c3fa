import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { formatDecimal, parseDecimal } from './decimal.ts'

describe('parseDecimal', () => {
  const good: [string, number, bigint][] = [
    ['0', 6, 0n],
    ['0.10', 6, 100_000n],
    ['0.000001', 6, 1n],
    ['25.00', 12, 25_000_000_000_000n],
    ['-1.5', 2, -150n],
    ['-0', 2, 0n],
    ['007', 0, 7n],
    ['999999999999999999999999', 0, 999_999_999_999_999_999_999_999n],
  ]
  for (const [text, decimals, value] of good) {
    test(`reads ${text} with ${decimals} decimals as ${value}`, () => {
      assert.equal(parseDecimal(text, decimals), value)
    })
  }

  const notNumbers = [
    '',
    ' ',
    '1 ',
    ' 1',
    '+1',
    '1e3',
    '1,5',
    '1_000',
    '.5',
    '5.',
    '0x10',
    'NaN',
    'Infinity',
    '--1',
    '١',
    '1\n',
  ]
  for (const text of [...notNumbers, '1.2.3']) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseDecimal(text, 6), {
        name: 'RangeError',
        message: 'must be a decimal number such as 0.40',
      })
    })
  }

  test('refuses too many digits before the point', () => {
    const message = 'must have at most 24 digits before the point'
    assert.equal(parseDecimal('9'.repeat(24), 0), 10n ** 24n - 1n)
    for (const text of ['9'.repeat(25), `-${'9'.repeat(1000)}.5`])
      assert.throws(() => parseDecimal(text, 6), { name: 'RangeError', message })
  })

  test('refuses too many decimals, even zeros', () => {
    assert.throws(() => parseDecimal('0.1234567', 6), { name: 'RangeError', message: 'must have at most 6 decimals' })
    assert.throws(() => parseDecimal('0.1000000', 6), { name: 'RangeError', message: 'must have at most 6 decimals' })
    assert.throws(() => parseDecimal('1.0', 0), { name: 'RangeError', message: 'must be a whole number' })
  })

  test('never rounds: every number of at most n decimals has its exact integer', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 12n), fc.integer({ min: 1, max: 12 }), fc.nat(), (whole, decimals, seed) => {
        const fraction = String(seed).slice(0, decimals)
        const scaled = BigInt(fraction) * 10n ** BigInt(decimals - fraction.length)
        assert.equal(parseDecimal(`${whole}.${fraction}`, decimals), whole * 10n ** BigInt(decimals) + scaled)
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })
})

describe('formatDecimal', () => {
  const table: [bigint, number, string][] = [
    [0n, 6, '0'],
    [100_000n, 6, '0.1'],
    [1n, 12, '0.000000000001'],
    [25_000_000_000_000n, 12, '25'],
    [-150n, 2, '-1.5'],
    [-5n, 2, '-0.05'],
    [1200n, 0, '1200'],
  ]
  for (const [value, decimals, text] of table) {
    test(`writes ${value} with ${decimals} decimals as ${text}`, () => {
      assert.equal(formatDecimal(value, decimals), text)
    })
  }

  test('round-trips, and is the shortest such text', () => {
    const limit = 10n ** 24n - 1n
    fc.assert(
      fc.property(fc.bigInt(-limit, limit), fc.integer({ min: 0, max: 12 }), (value, decimals) => {
        const text = formatDecimal(value, decimals)
        assert.equal(parseDecimal(text, decimals), value)
        assert.doesNotMatch(text, /\.$|\.\d*0$|^-?0\d|^-0$/)
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })
})
