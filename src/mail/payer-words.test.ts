import assert from 'node:assert/strict'
import { test } from 'node:test'
import { payerWords } from './payer-words.ts'

const billed = {
  firm: 'Berg & Partner',
  number: 'INV-2026-0017',
  issued: 'issued-day',
  due: 'due-day',
  gross: 'gross-amount',
  open: 'open-amount',
  settled: 'nothing' as const,
  credits: null,
}
const locales = ['en-GB', 'de-AT', 'fr-CH', 'ja-JP']

test('the words are those of the language of the locale, in English for others', () => {
  const subjects = locales.map((locale) => payerWords('invoice', billed, locale).subject)
  assert.deepEqual(subjects, [
    'Invoice INV-2026-0017 – Berg & Partner',
    'Rechnung INV-2026-0017 – Berg & Partner',
    'Facture INV-2026-0017 – Berg & Partner',
    'Invoice INV-2026-0017 – Berg & Partner',
  ])
})

test('each language says what is owed and until when, what is corrected, and what is open', () => {
  for (const locale of locales) {
    const invoice = payerWords('invoice', billed, locale).message
    assertSays(invoice, ['INV-2026-0017', 'issued-day', 'gross-amount', 'due-day'])
    assert.ok(!invoice.includes('open-amount'), invoice)
    const partlyPaid = payerWords('invoice', { ...billed, settled: 'part' }, locale).message
    assertSays(partlyPaid, ['INV-2026-0017', 'gross-amount', 'open-amount', 'due-day'])
    const paid = payerWords('invoice', { ...billed, settled: 'all' }, locale).message
    assertSays(paid, ['gross-amount'])
    assert.ok(!paid.includes('due-day'), paid)
    const credit = payerWords('invoice', { ...billed, credits: 'INV-2026-0003' }, locale)
    assertSays(credit.message, ['INV-2026-0003', 'gross-amount'])
    assert.ok(!credit.message.includes('due-day'), credit.message)
    assert.notEqual(credit.subject, payerWords('invoice', billed, locale).subject)
    assertSays(payerWords('reminder', billed, locale).message, ['INV-2026-0017', 'due-day', 'open-amount'])
  }
})

/** In paragraphs that end with the firm. */
function assertSays(message: string, parts: readonly string[]): void {
  for (const part of parts) assert.ok(message.includes(part), `${part} is not in ${message}`)
  assert.match(message, /^\S[^\n]+,\n\n[^]+\n\n[^\n]+\nBerg & Partner$/)
  assert.doesNotMatch(message, /undefined|null/)
}
