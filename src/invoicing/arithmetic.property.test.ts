import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../tests/support/draws.ts'
import { anyDecimals, anyEntry, anyLines, standardTax } from '../../tests/support/invoice-documents.ts'
import { creditAmounts, lineAmounts, minorUnit, totalsOf, type TaxedLine } from './arithmetic.ts'

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a)

/** Half to even, with text instead of division: the oracle. */
function rounded(amount: bigint, places: number): bigint {
  const digits = amount.toString().padStart(13, '0')
  const cut = digits.length - (12 - places)
  const [kept, dropped] = [BigInt(digits.slice(0, cut)), digits.slice(cut)]
  const half = `5${'0'.repeat(dropped.length - 1)}`
  const up = dropped > half || (dropped === half && kept % 2n === 1n)
  return (kept + (up ? 1n : 0n)) * minorUnit(places)
}

describe('for any invoice in a currency with 0, 2 or 3 decimals', () => {
  test('each line is exact, and rounded once, half to even', () => {
    fc.assert(
      fc.property(anyEntry, anyDecimals, ({ quantity, price }, places) => {
        const { exact, net } = lineAmounts(quantity, price, places)
        assert.equal(exact, quantity * price)
        assert.equal(net, rounded(exact, places))
        assert.ok(distance(net, exact) * 2n <= minorUnit(places))
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })

  test('the lines plus the shown rounding are exact', () => {
    fc.assert(
      fc.property(anyLines, ({ lines, places }) => {
        const { net, rounding } = totalsOf(lines, places)
        assert.equal(net - rounding, sum(lines.map(({ exact }) => exact)))
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })

  test('BR-CO-10, BR-CO-13: the total without tax is the sum of the lines; there are no other allowances or charges', () => {
    fc.assert(
      fc.property(anyLines, ({ lines, places }) =>
        assert.equal(totalsOf(lines, places).net, sum(lines.map(({ net }) => net))),
      ),
      draws({ test: 200, endure: 1000 }),
    )
  })

  test('BR-CO-14: the total tax is the sum of the tax groups', () => {
    fc.assert(
      fc.property(anyLines, ({ lines, places }) => {
        const totals = totalsOf(lines, places)
        assert.equal(totals.tax, sum(totals.taxes.map((group) => group.tax)))
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })

  test('BR-CO-15, BR-CO-16: the total with tax, which is due, is the total without it plus the tax', () => {
    fc.assert(
      fc.property(anyLines, ({ lines, places }) => {
        const { net, tax: all, gross } = totalsOf(lines, places)
        assert.equal(gross, net + all)
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })

  test('BR-CO-17: the tax of a group is its total times its rate, rounded', () => {
    fc.assert(
      fc.property(anyLines, ({ lines, places }) => {
        for (const { net, rate, tax: due } of totalsOf(lines, places).taxes) {
          assert.equal(due, rounded((net * BigInt(rate)) / 10_000n, places))
        }
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })

  test('BR-CO-18: each line is in one group, and each group is of one category and rate', () => {
    fc.assert(
      fc.property(anyLines, ({ lines, places }) => {
        const { taxes } = totalsOf(lines, places)
        const keys = taxes.map(({ category, rate }) => `${category} ${rate}`)
        assert.equal(new Set(keys).size, keys.length)
        assert.deepEqual(new Set(lines.map((line) => `${line.tax.category} ${line.tax.rate}`)), new Set(keys))
        for (const { category, rate, net } of taxes) {
          const own = lines.filter((line) => line.tax.category === category && line.tax.rate === rate)
          assert.equal(net, sum(own.map((line) => line.net)))
        }
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })

  test('BG-23: a group has every reason of its lines, once', () => {
    fc.assert(
      fc.property(anyLines, ({ lines, places }) => {
        for (const { category, rate, reason } of totalsOf(lines, places).taxes) {
          const own = lines.filter(({ tax: { category: c, rate: r } }) => c === category && r === rate)
          const reasons = own.flatMap((line) => line.tax.reason ?? [])
          assert.deepEqual(reason?.split('; ') ?? [], [...new Set(reasons)])
        }
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })

  test('every amount is a whole number of minor units', () => {
    fc.assert(
      fc.property(anyLines, ({ lines, places }) => {
        const { net, tax: all, gross, taxes } = totalsOf(lines, places)
        for (const amount of [net, all, gross, ...taxes.flatMap((group) => [group.net, group.tax])]) {
          assert.equal(amount % minorUnit(places), 0n)
        }
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })
})

/** A line's quantity in parts, which are credited one after another. */
const divided = fc
  .tuple(anyEntry, fc.array(fc.bigInt({ min: 1n, max: 10n ** 15n }), { maxLength: 6 }))
  .map(([each, cuts]) => {
    const ends = [...new Set(cuts.filter((cut) => cut < each.quantity)), each.quantity].toSorted((a, b) =>
      a < b ? -1 : 1,
    )
    return { ...each, parts: ends.map((end, index) => end - (ends[index - 1] ?? 0n)) }
  })
type Divided = typeof divided extends fc.Arbitrary<infer Line> ? Line : never

/** Credits the first parts of all lines, then the second parts, and so on. */
function credits(lines: readonly Divided[], places: number) {
  const rounds = Math.max(...lines.map(({ parts }) => parts.length))
  const taken = lines.map(() => ({ quantity: 0n, net: 0n }))
  const notes: ReturnType<typeof totalsOf>[] = []
  for (let round = 0; round < rounds; round++) {
    const credited: TaxedLine[] = []
    for (const [index, { price, tax: taxed, parts }] of lines.entries()) {
      const [part, before] = [parts[round], taken[index]]
      if (part === undefined || before === undefined) continue
      const amounts = creditAmounts(part, { price: price, decimals: places }, before)
      credited.push({ ...amounts, tax: taxed })
      taken[index] = { quantity: before.quantity + part, net: before.net + amounts.net }
    }
    const groups = notes.flatMap(({ taxes }) => taxes)
    const earlier = groups.map(({ category, rate }) => {
      const same = groups.filter((group) => group.category === category && group.rate === rate)
      return { category, rate, net: sum(same.map(({ net }) => net)), tax: sum(same.map((group) => group.tax)) }
    })
    notes.push(totalsOf(credited, places, earlier))
  }
  return notes
}

describe('any credit notes that together cover an invoice', () => {
  test('sum to its net amount, taxes and total, and none is negative or off by more than a minor unit', () => {
    fc.assert(
      fc.property(fc.array(divided, { minLength: 1, maxLength: 8 }), anyDecimals, (lines, places) => {
        const whole = totalsOf(
          lines.map((line) => ({ ...lineAmounts(line.quantity, line.price, places), tax: line.tax })),
          places,
        )
        const notes = credits(lines, places)
        assert.equal(sum(notes.map(({ net }) => net)), whole.net)
        assert.equal(sum(notes.map((note) => note.tax)), whole.tax)
        assert.equal(sum(notes.map(({ gross }) => gross)), whole.gross)
        assert.equal(sum(notes.map(({ rounding }) => rounding)), whole.rounding)
        for (const { taxes } of notes) {
          for (const { net, rate, tax: due } of taxes) {
            assert.ok(net >= 0n && due >= 0n)
            assert.ok(distance(due * 10_000n, net * BigInt(rate)) <= 10_000n * minorUnit(places))
          }
        }
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })

  test('the lines of each are whole minor units, at most one from their exact amounts', () => {
    fc.assert(
      fc.property(divided, anyDecimals, ({ price, parts }, places) => {
        let before = { quantity: 0n, net: 0n }
        for (const part of parts) {
          const { exact, net } = creditAmounts(part, { price: price, decimals: places }, before)
          assert.ok(net % minorUnit(places) === 0n && distance(net, exact) <= minorUnit(places))
          before = { quantity: before.quantity + part, net: before.net + net }
        }
        assert.equal(before.net, lineAmounts(before.quantity, price, places).net)
      }),
      draws({ test: 200, endure: 1000 }),
    )
  })
})

const unit = 10n ** 12n
/** A quantity of one at a price in 10⁻⁶. */
const netOf = (price: bigint, places: number) => lineAmounts(10n ** 6n, price, places).net
const inEuros = (tokens: bigint, price: bigint) => ({ ...lineAmounts(tokens, price, 2), tax: standardTax(1900) })

describe('examples', () => {
  test('a half goes to the even neighbour', () => {
    assert.equal(netOf(5_000n, 2), 0n)
    assert.equal(netOf(15_000n, 2), (2n * unit) / 100n)
    assert.equal(netOf(25_000n, 2), (2n * unit) / 100n)
    assert.equal(netOf(25_001n, 2), (3n * unit) / 100n)
    assert.equal(netOf(2_500_000n, 0), 2n * unit)
    assert.equal(netOf(500n, 3), 0n)
    assert.equal(netOf(1_500n, 3), (2n * unit) / 1000n)
  })

  test('an account month in EUR: 1 234 567 input and 89 012 output tokens at 0.40 and 1.60, and 19 % tax', () => {
    const totals = totalsOf([inEuros(1_234_567n, 400_000n), inEuros(89_012n, 1_600_000n)], 2)
    // 0.4938268 and 0.1424192.
    assert.equal(totals.net, (63n * unit) / 100n)
    assert.equal(totals.rounding, (63n * unit) / 100n - 636_246_000_000n)
    assert.equal(totals.tax, (12n * unit) / 100n)
    assert.equal(totals.gross, (75n * unit) / 100n)
  })
})
