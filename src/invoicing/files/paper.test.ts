import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { invoiceWith, sampleEntries } from '../../../tests/support/invoice-documents.ts'
import { missingInInvoice } from '../../documents/pdf/invoice-pdf.ts'
import type { InvoiceDocument } from '../document.ts'
import { paymentCode } from './payment-code.ts'
import { invoicePaper } from './paper.ts'

const sample = invoiceWith(sampleEntries)
const seller = sample.seller ?? assert.fail()
const settings = { locale: 'en-GB', seller: undefined, timeZone: 'UTC' }
/** With ordinary spaces. */
const spaced = (text: string | undefined) => text?.replaceAll(/[\u00a0\u202f]/g, ' ')
const factsOf = (paper: ReturnType<typeof invoicePaper>) =>
  Object.fromEntries(paper.facts.map(({ name, value }) => [name, value]))

const paperOf = (supply: InvoiceDocument['supply'], locale: string) =>
  invoicePaper({ ...sample, supply, seller: { ...seller, locale } }, settings)

describe('the paper of an invoice', () => {
  test('depends on nothing but the invoice once it is issued', () => {
    const elsewhere = { locale: 'de-DE', seller: { ...seller, name: 'Other', locale: 'de-DE' }, timeZone: 'Asia/Tokyo' }
    assert.deepEqual(invoicePaper(sample, elsewhere), invoicePaper(sample, settings))
    const draft = invoiceWith(sampleEntries, { number: null, issuedOn: null, dueOn: null, seller: null })
    const paper = invoicePaper(draft, elsewhere)
    assert.deepEqual(
      [paper.letterhead.name, paper.mark, paper.xml, paper.payment],
      ['Other', 'Entwurf', undefined, undefined],
    )
    const french = invoicePaper({ ...draft, language: 'fr' }, elsewhere)
    assert.deepEqual([french.mark, french.language], ['Brouillon', 'fr-DE'])
    assert.equal(invoicePaper({ ...sample, language: 'fr' }, settings).language, 'en-GB')
  })

  test('has the numbers and days of its locale, and its words in English, German or French', () => {
    const expected = {
      'en-GB': ['Invoice INV-2026-0017', '12 March 2026', 'EUR 762.91', '3.5 h', '12.345678', '19%'],
      'de-DE': ['Rechnung INV-2026-0017', '12. März 2026', '762,91 EUR', '3,5 Std.', '12,345678', '19 %'],
      'fr-FR': ['Facture INV-2026-0017', '12 mars 2026', '762,91 EUR', '3,5 h', '12,345678', '19 %'],
      'sv-SE': ['Invoice INV-2026-0017', '12 mars 2026', '762,91 EUR', '3,5 h', '12,345678', '19 %'],
      // In Latin digits and English months: the fonts have no others.
      'ar-EG': ['Invoice INV-2026-0017', '12 March 2026', undefined, '3.5 h', '12.345678', '19%'],
      'ja-JP': ['Invoice INV-2026-0017', '12 March 2026', 'EUR 762.91', '3.5 h', '12.345678', '19%'],
    } as const
    for (const [locale, [title, date, total, quantity, price, rate]] of Object.entries(expected)) {
      const paper = invoicePaper({ ...sample, seller: { ...seller, locale } }, settings)
      assert.equal(paper.title, title)
      if (date !== undefined) assert.equal(paper.facts[0]?.value, date)
      if (total !== undefined) assert.equal(spaced(paper.totals.at(-1)?.value), total)
      assert.equal(spaced(paper.lines[0]?.quantity), quantity)
      assert.equal(paper.lines[1]?.price, price)
      if (rate !== undefined) assert.equal(spaced(paper.lines[0]?.tax), rate)
    }
  })

  test('can be a PDF in every locale', () => {
    const locales =
      'am-ET ar-EG bg-BG bn-BD de-CH el-GR fa-IR he-IL hi-IN hy-AM ja-JP ka-GE ko-KR ru-RU th-TH tr-TR ur-PK vi-VN zh-CN'
    const month = { month: '2026-02-01' }
    for (const locale of locales.split(' ')) {
      const paper = invoicePaper({ ...sample, ...month, seller: { ...seller, locale } }, settings)
      assert.deepEqual(missingInInvoice(paper), [], locale)
    }
  })

  test('states the rounding and each tax, and why none is due', () => {
    const exempt = { category: 'E', rate: 0, reason: 'Exempt under article 132' } as const
    const paper = invoicePaper(
      invoiceWith([...sampleEntries, { quantity: 10n ** 6n, price: 10n ** 8n, tax: exempt }]),
      settings,
    )
    assert.deepEqual(
      paper.totals.map(({ name, value }) => `${name}: ${value.replaceAll('\u00a0', ' ')}`),
      [
        'Net: 742.35',
        'Tax 19% on 630.00: 119.70',
        'Tax 7% on 12.35: 0.86',
        'Exempt under article 132, on 100.00: 0.00',
        'Total: EUR 862.91',
      ],
    )
    assert.match(paper.remarks.join(), /contains EUR\s0\.004322 of rounding\.$/)
    assert.deepEqual(invoicePaper(invoiceWith(sampleEntries.slice(0, 1)), settings).remarks, [])
  })

  test('of a credit note names its invoice and asks for no payment', () => {
    const change = { kind: 'credit_note', number: 'CN-2026-0001', creditsNumber: 'INV-2026-0017' } as const
    const paper = invoicePaper(invoiceWith(sampleEntries, change), settings)
    assert.equal(paper.title, 'Credit note CN-2026-0001')
    assert.deepEqual(factsOf(paper), {
      Date: '12 March 2026',
      'Corrects invoice': 'INV-2026-0017',
      'Your tax number': 'SE556677889901',
    })
    assert.equal(paper.payment, undefined)
    const totalIn = (locale: string) =>
      invoicePaper(invoiceWith(sampleEntries, { ...change, seller: { ...seller, locale } }), settings).totals.at(-1)
        ?.name
    assert.deepEqual(['en-GB', 'de-DE', 'fr-FR'].map(totalIn), ['Total', 'Gesamtbetrag', 'Total TTC'])
  })

  test('names the reference of the buyer and its order', () => {
    const buyer = { ...sample.buyer, reference: 'Dept. 7', orderNumber: 'PO-1' }
    const facts = factsOf(invoicePaper({ ...sample, buyer }, settings))
    assert.deepEqual([facts['Your reference'], facts['Your order']], ['Dept. 7', 'PO-1'])
  })

  test('states the day or the period of supply, and no rounding of a client’s lines', () => {
    const from = '2026-02-27'
    assert.equal(factsOf(paperOf({ from, to: from }, 'de-DE'))['Leistungsdatum'], '27. Februar 2026')
    const period = paperOf({ from, to: '2026-03-02' }, 'en-GB')
    assert.equal(factsOf(period)['Period'], '27 February 2026 – 2 March 2026')
    assert.deepEqual(period.remarks, [])
  })

  test('has no more decimals of the price of letters than are billed', () => {
    const letters = { unit: 'lump_sum', quantity: 10n ** 6n, price: 1_006_750_099_000n } as const
    const { lines } = invoicePaper(invoiceWith([letters, { ...letters, quantity: 2n * letters.quantity }]), settings)
    assert.deepEqual(
      lines.map(({ price, net }) => [price, net]),
      [
        ['1.01', '1.01'],
        ['1.00675', '2.01'],
      ],
    )
  })

  test('counts tokens one by one', () => {
    const tokens = { unit: 'million_tokens', quantity: 1_234_567n, price: 400_000n } as const
    const paper = invoicePaper(invoiceWith([tokens], { month: '2026-02-01' }), settings)
    assert.deepEqual(
      [paper.lines[0]?.quantity, paper.lines[0]?.price, factsOf(paper)['Period']],
      ['1,234,567\u00a0tokens', '0.40\u00a0per million', 'February 2026'],
    )
  })
})

describe('the code for banking apps', () => {
  test('is an EPC069-12 credit transfer of the whole amount', () => {
    assert.equal(
      paymentCode(sample),
      'BCD\n002\n1\nSCT\nCOBADEFFXXX\nBerg & Partner\nDE89370400440532013000\nEUR762.91\n\n\nINV-2026-0017',
    )
    const long = { ...seller, bank: { name: 'é'.repeat(80), iban: 'DE89370400440532013000', bic: null } }
    assert.equal(paymentCode({ ...sample, seller: long })?.split('\n')[5], 'é'.repeat(70))
  })

  test('is left out for another currency, without an account, for nothing and too much, in drafts and credit notes', () => {
    const free = invoiceWith([{ quantity: 1n, price: 0n }])
    const huge = invoiceWith([{ quantity: 10n ** 15n, price: 10n ** 9n }])
    for (const document of [
      { ...sample, currency: 'USD' },
      { ...sample, seller: { ...seller, bank: null } },
      { ...sample, kind: 'credit_note' as const },
      { ...sample, number: null },
      free,
      huge,
    ]) {
      assert.equal(paymentCode(document), undefined)
    }
  })
})
