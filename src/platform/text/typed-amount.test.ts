import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { formatDecimal, parseDecimal } from './decimal.ts'
import { clearAmount, decimalMarkOf, plainAmount } from './typed-amount.ts'

const clear: [text: string, decimal: string][] = [
  ['1234.56', '1234.56'],
  ['1,234.56', '1234.56'],
  ["1'234.56", '1234.56'],
  ['1’234’567.56', '1234567.56'],
  ['1 234.56', '1234.56'],
  ['1\u00a0234.56', '1234.56'],
  ['1\u202f234\u202f567', '1234567'],
  ['1\u2009234', '1234'],
  ['1,234,567', '1234567'],
  ['12,34,567.89', '1234567.89'],
  ['−1,234.56', '-1234.56'],
  [' -5 ', '-5'],
  ['0.125', '0.125'],
  ['1250.500', '1250.500'],
]

describe('a typed amount', () => {
  test('has one meaning with either decimal mark', () => {
    for (const [text, decimal] of clear) {
      assert.deepEqual([plainAmount(text, '.'), plainAmount(text, ',')], [decimal, decimal], text)
    }
  })

  test('may have a decimal comma where that is usual, and nowhere else', () => {
    for (const [text, decimal] of [
      ['1234,56', '1234.56'],
      ['1.234,56', '1234.56'],
      ['1.234.567', '1234567'],
      ["1'234,56", '1234.56'],
      ['1 234,567', '1234.567'],
      ['−0,125', '-0.125'],
      ['1234,567', '1234.567'],
    ] as const) {
      assert.equal(plainAmount(text, ','), decimal)
      assert.throws(() => parseDecimal(plainAmount(text, '.'), 12), RangeError, text)
    }
  })

  test('that could be two amounts is refused with both', () => {
    for (const text of ['1,234', '1.234']) {
      const message = 'could be 1234 or 1.234: write 1234 or 1.2340'
      assert.throws(() => plainAmount(text, ','), { name: 'RangeError', message }, text)
    }
    assert.throws(() => plainAmount('-12,345', ','), /write -12345 or -12\.3450$/)
    assert.deepEqual([plainAmount('1,234', '.'), plainAmount('1.234', '.')], ['1234', '1.234'])
    assert.equal(plainAmount(clearAmount('1.234', ','), ','), '1.2340')
    assert.equal(plainAmount(clearAmount('1.234', '.'), '.'), '1.234')
    for (const decimal of ['1.23', '0.234', '1234.567', '1234', '1.2345']) {
      for (const mark of ['.', ','] as const) assert.equal(clearAmount(decimal, mark), decimal)
    }
  })

  test('with misplaced separators is not an amount', () => {
    const texts = [
      '1,23',
      '12,34',
      '1,2345',
      '0,125',
      ',5',
      '1,,234',
      '1.234.56',
      "1'23",
      '1 23',
      "1'234 567",
      '1e3',
      '',
    ]
    for (const text of texts) assert.throws(() => parseDecimal(plainAmount(text, '.'), 12), RangeError, text)
    for (const text of ['1.23.456', '1,234,56', '1.234,567.8', "1'23,4", '1,2,3', ',5', '1e3', '€5', '']) {
      assert.throws(() => parseDecimal(plainAmount(text, ','), 12), RangeError, text)
    }
  })
})

test('an amount as a locale writes it is read as the same amount', () => {
  const locales =
    'en-GB en-US en-IN de-DE de-CH de-AT fr-FR fr-CH it-IT es-ES es-MX pt-BR pt-PT nl-NL sv-SE pl-PL cs-CZ tr-TR ja-JP'
  const amounts = fc.tuple(fc.bigInt(0n, 10n ** 24n - 1n), fc.integer({ min: 0, max: 12 }))
  fc.assert(
    fc.property(fc.constantFrom(...locales.split(' ')), amounts, (locale, [value, decimals]) => {
      const decimal = formatDecimal(value, decimals)
      if (!isDecimal(decimal)) throw new Error(`not a decimal: ${decimal}`)
      const written = new Intl.NumberFormat(locale, { maximumFractionDigits: 12 }).format(decimal)
      const exact = parseDecimal(decimal, 12)
      try {
        assert.equal(parseDecimal(plainAmount(written, decimalMarkOf(locale)), 12), exact, `${locale}: ${written}`)
      } catch (error) {
        // One group of three digits: refused, with the amount among the two.
        if (!(error instanceof RangeError)) throw error
        assert.match(written, /^[1-9]\d{0,2}[.,]\d{3}$/)
        assert.match(error.message, new RegExp(`(be|or) ${RegExp.escape(decimal)}\\b`))
      }
    }),
    draws({ test: 100, endure: 6000 }),
  )
})

test('an amount of money as a locale writes it is always clear', () => {
  const cents = fc.bigInt(0n, 10n ** 20n)
  const locales = fc.constantFrom('en-GB', 'en-IN', 'de-DE', 'de-CH', 'fr-FR', 'es-ES', 'pl-PL', 'pt-BR')
  fc.assert(
    fc.property(locales, cents, (locale, value) => {
      const decimal = formatDecimal(value, 2)
      if (!isDecimal(decimal)) throw new Error(`not a decimal: ${decimal}`)
      const written = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }).format(decimal)
      assert.equal(parseDecimal(plainAmount(written, decimalMarkOf(locale)), 2), value, `${locale}: ${written}`)
    }),
    draws({ test: 200, endure: 1000 }),
  )
})

function isDecimal(text: string): text is `${number}` {
  return /^\d+(?:\.\d+)?$/.test(text)
}
