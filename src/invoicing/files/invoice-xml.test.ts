import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { brokenRules, schemaFaults } from '../../../tests/support/en16931.ts'
import { anyLines, exempt, invoiceWith, sampleEntries } from '../../../tests/support/invoice-documents.ts'
import { parseMoney } from '../../billing/prices/money.ts'
import { totalsOf, type Tax } from '../arithmetic.ts'
import { standardFault } from '../issue/european-union.ts'
import type { InvoiceDocument } from '../document.ts'
import { invoiceXml } from './invoice-xml.ts'
import type { Seller } from '../settings.ts'

const unit = 10n ** 6n
const sample = invoiceWith(sampleEntries)
const seller = sample.seller ?? assert.fail()
const without = (category: Tax['category']): Tax => ({ category, rate: 0, reason: 'No tax is due' })
const taxed = (...categories: Tax['category'][]) =>
  categories.map((category) => ({ quantity: unit, price: 100n * unit, tax: without(category) }))
const supplied = (from: string) => ({ supply: { from, to: '2026-02-27' } })
const soldBy = (change: Partial<Seller>) => ({ seller: { ...seller, ...change } })
const boughtBy = (change: Partial<InvoiceDocument['buyer']>) => ({ buyer: { ...sample.buyer, ...change } })

const stockholm = { street: 'Storgatan 1', extra: null, postcode: '111 22', city: 'Stockholm', country: 'SE' }
const atPlace = boughtBy({ place: stockholm, reference: 'Dept. 7', orderNumber: 'PO-1' })

/** The texts of all elements with this name. */
const textsOf = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<ram:${name}(?: [^>]*)?>([^<]*)</ram:${name}>`, 'g'))].map(([, text = '']) => text)
const daysIn = (xml: string) =>
  [...xml.matchAll(/<ram:(Occurrence|Start|End)DateTime>.*?>(\d+)</gs)].map(([, name, date]) => `${name} ${date}`)
const amountsOf = (xml: string, name: string) => textsOf(xml, name).map(parseMoney)

describe('B105: the published schema and the rules for amounts accept', () => {
  const tokens = { unit: 'million_tokens', quantity: 1_234_567n, price: 400_000n } as const
  const documents: Readonly<Record<string, InvoiceDocument>> = {
    'an invoice in EUR': sample,
    'a buyer with an address in parts, a reference and an order': invoiceWith(sampleEntries, atPlace),
    'an invoice in JPY, without decimals': invoiceWith(sampleEntries, { currency: 'JPY', decimals: 0 }),
    'an invoice in KWD, if its amounts have two decimals': invoiceWith([{ quantity: unit, price: 100n * unit }], {
      currency: 'KWD',
      decimals: 3,
    }),
    'a credit note': invoiceWith(sampleEntries, {
      kind: 'credit_note',
      creditsNumber: 'INV-2026-0017',
      dueOn: '2026-03-12',
    }),
    ...Object.fromEntries(
      (['S', 'K', 'O'] as const).flatMap((category) => [
        [`a day of supply, ${category}`, invoiceWith(taxed(category), supplied('2026-02-27'))],
        [`a period of supply, ${category}`, invoiceWith(taxed(category), supplied('2026-02-01'))],
      ]),
    ),
    'tokens of a month': invoiceWith([tokens, { ...tokens, price: 0n }], { month: '2026-02-01' }),
    'every unit': invoiceWith(
      (
        ['hour', 'day', 'month', 'piece', 'kilometre', 'million_tokens', 'minute', 'lump_sum', 'thousand_uses'] as const
      ).map((each) => ({
        unit: each,
        quantity: 1n,
        price: unit,
      })),
    ),
    'an amount of zero': invoiceWith([{ quantity: unit, price: 0n }]),
    'several taxes': invoiceWith([
      ...sampleEntries,
      ...taxed('E'),
      { quantity: unit, price: unit, tax: { category: 'Z', rate: 0, reason: null } },
    ]),
    'a seller with nothing but its name': invoiceWith(
      taxed('O'),
      soldBy({ address: [], email: null, phone: null, tax_number: null, bank: null }),
    ),
    'a tax number that is none for VAT': invoiceWith(sampleEntries, soldBy({ tax_number: '12/345/67890' })),
    'a VAT number outside the scope of tax': invoiceWith(taxed('O', 'O')),
    'a long address': invoiceWith(sampleEntries, boughtBy({ address: 'a\nb\n\nc\nd\ne' })),
    'a buyer without address and tax number': invoiceWith(sampleEntries, boughtBy({ address: null, taxNumber: null })),
    'characters that XML escapes, and some that it lacks': invoiceWith(
      [{ text: `"<a> & ']]>\u0001\uD800 €😀`, quantity: unit, price: unit }],
      { note: 'one\ntwo & <three>', ...boughtBy({ name: '<Öberg> & "Söner"' }) },
    ),
    ...Object.fromEntries(
      (['E', 'AE', 'K', 'G', 'O'] as const).map((category) => [
        `the category ${category}`,
        invoiceWith(taxed(category)),
      ]),
    ),
    'the category K of a month': invoiceWith(taxed('K'), { month: '2026-02-01' }),
  }
  for (const [what, document] of Object.entries(documents)) {
    test(what, () => {
      assert.equal(standardFault(document), undefined)
      const xml = invoiceXml(document)
      assert.deepEqual(schemaFaults(xml), [])
      assert.deepEqual(brokenRules(xml), [])
    })
  }

  test('the day of supply as BT-72, a period as BG-14', () => {
    assert.deepEqual(daysIn(invoiceXml({ ...sample, ...supplied('2026-02-27') })), ['Occurrence 20260227'])
    assert.deepEqual(daysIn(invoiceXml({ ...sample, ...supplied('2026-02-01') })), ['Start 20260201', 'End 20260227'])
    assert.deepEqual(daysIn(invoiceXml(sample)), [])
  })

  test('no amount that does not add up', () => {
    const xml = invoiceXml(sample)
    const changed = (name: string) => xml.replace(new RegExp(`(<ram:${name}(?: [^>]*)?>)[\\d.]+`), '$11.23')
    assert.deepEqual(brokenRules(changed('LineTotalAmount')), ['BR-CO-10', 'BR-S-08'])
    assert.deepEqual(brokenRules(changed('TaxBasisTotalAmount')), ['BR-CO-13', 'BR-CO-15'])
    assert.deepEqual(brokenRules(changed('TaxTotalAmount')), ['BR-CO-14', 'BR-CO-15'])
    assert.deepEqual(brokenRules(changed('GrandTotalAmount')), ['BR-CO-15', 'BR-CO-16'])
    assert.deepEqual(brokenRules(changed('CalculatedAmount')), ['BR-CO-14', 'BR-CO-17', 'BR-S-09'])
    assert.match(schemaFaults(xml.replace('<ram:TypeCode>380</ram:TypeCode>', '')).join('\n'), /TypeCode/)
  })
})

test('B105: the amounts are those of the invoice, to the last decimal, in a currency with 0, 2 or 3 decimals', () => {
  fc.assert(
    fc.property(anyLines, ({ entries, places }) => {
      const document = invoiceWith(entries, { decimals: places })
      const { lines, totals } = document
      const xml = invoiceXml(document)
      const lineTotals = amountsOf(xml, 'LineTotalAmount')
      assert.deepEqual(lineTotals, [...lines.map(({ net }) => net), totals.net])
      assert.deepEqual(amountsOf(xml, 'TaxBasisTotalAmount'), [totals.net])
      assert.deepEqual(amountsOf(xml, 'TaxTotalAmount'), [totals.tax])
      assert.deepEqual(amountsOf(xml, 'GrandTotalAmount'), [totals.gross])
      assert.deepEqual(amountsOf(xml, 'DuePayableAmount'), [totals.gross])
      assert.deepEqual(
        amountsOf(xml, 'BasisAmount'),
        totals.taxes.map(({ net }) => net),
      )
      assert.deepEqual(
        amountsOf(xml, 'CalculatedAmount'),
        totals.taxes.map(({ tax }) => tax),
      )
      const prices = amountsOf(xml, 'ChargeAmount').map((price) => price / unit)
      assert.deepEqual(
        prices.map((price, index) => price * (lines[index]?.quantity ?? 0n)),
        lines.map(({ exact }) => exact),
      )
    }),
    draws({ test: 50, endure: 1000 }),
  )
})

test('tokens are counted one by one, at the price of a million', () => {
  const xml = invoiceXml(invoiceWith([{ unit: 'million_tokens', quantity: 1_234_567n, price: 400_000n }]))
  assert.deepEqual(textsOf(xml, 'BilledQuantity'), ['1234567'])
  assert.deepEqual([textsOf(xml, 'ChargeAmount'), textsOf(xml, 'BasisQuantity')], [['0.4'], ['1000000']])
})

test('time is in minutes, at the price of 60, and a lump sum costs what is billed for it', () => {
  const time = { unit: 'minute', quantity: 20n * unit, price: 100n * unit } as const
  const letters = { unit: 'lump_sum', quantity: unit, price: 1_006_750_099_000n } as const
  const xml = invoiceXml(invoiceWith([time, letters, { ...letters, quantity: unit / 2n }]))
  assert.deepEqual([textsOf(xml, 'BilledQuantity'), textsOf(xml, 'BasisQuantity')], [['20', '1', '0.5'], ['60']])
  assert.deepEqual(textsOf(xml, 'ChargeAmount'), ['100', '1.01', '1.00675'])
})

const buyerCountry = (buyer: Partial<InvoiceDocument['buyer']>, locale = 'de-AT') => {
  const document = invoiceWith(sampleEntries, { ...boughtBy(buyer), ...soldBy({ country: 'AT', locale }) })
  return textsOf(invoiceXml(document), 'CountryID')[1]
}

test('the country of the buyer is the last line of the address, else that of its VAT number or of the firm', () => {
  assert.equal(buyerCountry({ address: 'Storgatan 1\nSweden' }), 'SE')
  assert.equal(buyerCountry({ address: 'Storgatan 1\nSCHWEDEN' }), 'SE')
  assert.equal(buyerCountry({ address: 'Rue 1\nCôte d’Ivoire' }), 'CI')
  assert.equal(buyerCountry({ address: 'High Street\nUK', taxNumber: null }), 'GB')
  assert.equal(buyerCountry({ address: 'Ring 1\n1010 Wien', taxNumber: null }), 'AT')
  assert.equal(buyerCountry({ address: null, taxNumber: 'EL123456789' }), 'GR')
  assert.equal(buyerCountry({ address: null, taxNumber: '123' }), 'AT')
})

test('a buyer has its address in parts, its reference and its order', () => {
  const xml = invoiceXml(invoiceWith(sampleEntries, atPlace))
  const buyer = xml.slice(xml.indexOf('<ram:BuyerTradeParty>'), xml.indexOf('</ram:BuyerTradeParty>'))
  assert.deepEqual(
    ['PostcodeCode', 'LineOne', 'LineTwo', 'CityName', 'CountryID'].map((name) => textsOf(buyer, name)),
    [['111 22'], ['Storgatan 1'], [], ['Stockholm'], ['SE']],
  )
  assert.deepEqual([textsOf(xml, 'BuyerReference'), textsOf(xml, 'IssuerAssignedID')], [['Dept. 7'], ['PO-1']])
})

test('an invoice that lacks what the standard demands has no XML, and the reason is a sentence', () => {
  const faults: readonly [InvoiceDocument, RegExp][] = [
    [invoiceWith(sampleEntries, { number: null }), /^A draft has no XML file/],
    [invoiceWith(sampleEntries, { seller: null }), /^A draft has no XML file/],
    [invoiceWith(sampleEntries, soldBy({ tax_number: null })), /requires the tax number of the firm/],
    [
      invoiceWith([{ quantity: unit, price: unit, tax: exempt }], soldBy({ tax_number: null })),
      /tax number of the firm/,
    ],
    [invoiceWith(taxed('G'), soldBy({ tax_number: '12/345' })), /requires the VAT number of the firm/],
    [invoiceWith(taxed('AE'), boughtBy({ taxNumber: '12/345' })), /requires the VAT number of the buyer/],
    [invoiceWith(taxed('K'), boughtBy({ taxNumber: null })), /requires the VAT number of the buyer/],
    [invoiceWith([{ quantity: unit, price: 1_234_000n }], { decimals: 3 }), /allows two decimals/],
  ]
  for (const [document, fault] of faults) assert.match(standardFault(document) ?? '', fault)
})

/** A credit note for lines in JPY, after another one. */
function creditNote(net: bigint, rate: number, before: bigint): InvoiceDocument {
  const tax: Tax = { category: 'S', rate, reason: null }
  const change = { kind: 'credit_note', creditsNumber: 'INV-2026-0017', currency: 'JPY', decimals: 0 } as const
  const note = invoiceWith([{ quantity: unit, price: net * unit, tax }], change)
  const credited = invoiceWith([{ quantity: unit, price: before * unit, tax }], change).totals.taxes
  return { ...note, totals: totalsOf(note.lines, 0, credited) }
}

describe('the tax of a credit note', () => {
  test('that is a whole unit off its rate has no XML, and a rule forbids it', () => {
    // Of 315, 10 % is 32, and 10 of it were credited with 105.
    const note = creditNote(210n, 1000, 105n)
    assert.equal(note.totals.tax, 22n * 10n ** 12n)
    assert.match(standardFault(note) ?? '', /^This credit note has no XML file: its tax is rounded together/)
    assert.ok(brokenRules(invoiceXml(note)).includes('BR-S-09'))
    assert.equal(standardFault(creditNote(210n, 1000, 100n)), undefined)
  })

  test('has XML exactly if the rule allows it', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 2000n }),
        fc.constantFrom(810, 1000, 1005, 2550),
        fc.bigInt({ min: 1n, max: 2000n }),
        (net, rate, before) => {
          const note = creditNote(net, rate, before)
          assert.equal(standardFault(note) === undefined, !brokenRules(invoiceXml(note)).includes('BR-S-09'))
        },
      ),
      draws({ test: 50, endure: 1000 }),
    )
  })
})
