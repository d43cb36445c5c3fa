import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getDocumentProxy } from 'unpdf'
import { invoiceWith, sampleEntries } from '../../tests/support/invoice-documents.ts'
import { invoicePaper } from '../invoicing/files/paper.ts'
import type { Letterhead, LetterDocument } from './document.ts'
import { writeInvoicePdf } from './pdf/invoice-pdf.ts'
import { writePdf } from './pdf/pdf.ts'

const recipient = ['Harbour Lane Bakery', '4 Harbour Lane', 'Bristol']
const short: Letterhead = { name: 'Berg & Söhne', address: ['Hochstraße 1', '1010 Wien'] }
const long: Letterhead = {
  name: 'Penhallow & Partner Steuerberatungsgesellschaft mbB',
  address: ['Kaiserstraße 12', '60311 Frankfurt am Main'],
}
const longest: Letterhead = { name: `${'Wirtschaftsprüfung und '.repeat(5)}Beratung`, address: long.address }

const letter: LetterDocument = {
  letterhead: short,
  recipient,
  date: '12 March 2026',
  subject: 'The lease',
  text: 'Hello',
  closing: 'Yours sincerely,',
  author: 'Anna',
  language: 'en-GB',
  paper: 'A4',
  source: undefined,
  notice: '',
}
const paper = {
  ...invoicePaper(invoiceWith(sampleEntries), { locale: 'en-GB', seller: undefined, timeZone: 'UTC' }),
  recipient,
}

const kinds = {
  letter: (letterhead: Letterhead) => writePdf({ ...letter, letterhead }),
  invoice: (letterhead: Letterhead) => writeInvoicePdf({ ...paper, letterhead }),
}

/** The lines of the sender, from the top, and the first of the recipient: the height of their letters, and their baseline in points. */
async function addressOf(bytes: Uint8Array) {
  const page = await (await getDocumentProxy(new Uint8Array(bytes))).getPage(1)
  const { items } = await page.getTextContent()
  const texts = items.flatMap((item) =>
    'transform' in item && item.str.trim() !== ''
      ? [
          {
            text: item.str,
            size: Number(item.transform[3]),
            left: Number(item.transform[4]),
            baseline: Number(item.transform[5]),
          },
        ]
      : [],
  )
  const first = texts.find(({ text }) => text.startsWith('Harbour Lane')) ?? assert.fail()
  const senders = texts.filter(
    ({ size, left, baseline }) => size < 7 && left < 320 && baseline > first.baseline - 1 && baseline < 730,
  )
  return { first, senders, baselines: [...new Set(senders.map(({ baseline }) => baseline))] }
}

for (const [kind, write] of Object.entries(kinds)) {
  describe(`the sender above the recipient of a PDF: ${kind}`, () => {
    test('has its usual size if it is short', async () => {
      const { senders, baselines } = await addressOf(await write(short))
      assert.equal(baselines.length, 1)
      assert.ok(senders.every(({ size }) => size === 6.5))
    })

    test('is smaller if it is long, and never reaches the recipient', async () => {
      for (const letterhead of [long, longest]) {
        const { first, senders, baselines } = await addressOf(await write(letterhead))
        assert.match(senders.map(({ text }) => text).join(' '), /60311 Frankfurt am Main/)
        // Capital letters are two thirds of the size above the baseline; the longest letters reach a quarter below it.
        const reach = Math.min(...senders.map(({ baseline, size }) => baseline - size / 4))
        assert.ok(reach > first.baseline + (first.size * 2) / 3, `${reach} reaches ${first.baseline}`)
        assert.equal(baselines.length, letterhead === long ? 1 : 2)
      }
    })
  })
}
