import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { checkLetter, type Detail } from './check.ts'
import { plainText } from './plain-text.ts'

const note = `Meeting on 12 March 2026 with Anna Berg of Berg & Sons.
We agreed a fixed fee of $4,120 for the annual accounts, payable in three instalments. She sends the bank statements by 30 March.`
const invoice = 'Invoice 2026-0117, amount $1,160.50. The client disputes two hours of Thomas Okoye’s time in February.'

/** All that stands in no source, by kind. */
async function missingFrom(
  letter: string,
  known: readonly string[] = [],
): Promise<Partial<Record<Detail['kind'], string[]>>> {
  const { sentences } = await checkLetter(letter, [note, invoice], known)
  const all = sentences.flatMap(({ missing }) => missing)
  return Object.fromEntries(
    [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, details]) => [kind, details.map(({ text }) => text)]),
  )
}

suite('checkLetter', () => {
  suite('finds what stands in no source', () => {
    for (const [letter, expected] of [
      ['We agreed a fee of $4,210.', { figure: ['$4,210'] }],
      ['We agreed a fee of 4.12 dollars and 41.20 more.', { figure: ['41.20'] }],
      ['The fee rises by 12 %.', {}],
      ['The fee rises by 13 %.', { figure: ['13 %'] }],
      ['It is payable in 4 instalments.', { figure: ['4'] }],
      ['See invoice 2026-0118.', { figure: ['2026-0118'] }],
      ['We met on 13 March 2026.', { date: ['13 March 2026'] }],
      ['We met on March 12, 2025.', { date: ['March 12, 2025'] }],
      ['Please send them by 31 March.', { date: ['31 March'] }],
      ['Please send them by 2026-04-30.', { date: ['2026-04-30'] }],
      ['Please pay in April 2026.', { date: ['April 2026'] }],
      ['Thank you for meeting Clara Schmidt.', { name: ['Clara Schmidt'] }],
      ['Anna Schmidt will call you.', { name: ['Anna Schmidt'] }],
      ['We wrote to Thomas and to Brenda.', { name: ['Brenda'] }],
      ['Brenda will call you.', { name: ['Brenda'] }],
      ['The statements of HSBC are missing.', { name: ['HSBC'] }],
    ] as const) {
      test(letter, async () => assert.deepEqual(await missingFrom(letter), expected))
    }
  })

  suite('accepts what the sources say in another form', () => {
    for (const letter of [
      'The fee is 4120, or USD 4 120.00, or 4.120,00.',
      'The fee is $4.12k.',
      'It is payable in 3 instalments, or in three.',
      'Invoice 2026-0117 is $1,160.5.',
      'We met on 12 March, on March 12th, 2026, on 2026-03-12, on 12.3.2026, on 12/03/2026 and on 03/12/2026.',
      'We met am 12. März 2026, le 12 mars 2026, el 12 de marzo de 2026.',
      'Please send them by 30 March 2026, in March 2026.',
      'ANNA BERG met us. Ms Berg’s statements are due.',
      'Mr Okoye wrote to Berg and Sons on Thursday.',
      'Dear Anna Berg,\n\nThank you. However, I may call. Please find it enclosed.\n\nKind regards,\nYours sincerely',
    ]) {
      test(letter, async () => assert.deepEqual(await missingFrom(letter), {}))
    }
  })

  test('takes numbers of a list and words in lower case elsewhere for nothing', async () => {
    assert.deepEqual(await missingFrom('1. Statements of the bank\n2) Payable amounts\n\nPayable amounts are due.'), {})
  })

  test('accepts what is known besides the sources, on which no sentence rests', async () => {
    const letter = 'Mei Sakamoto proposes a discount of 50 dollars.'
    assert.deepEqual(await missingFrom(letter), { name: ['Mei Sakamoto'], figure: ['50'] })
    const known = ['Offer a discount of 50 dollars.', 'Mei Sakamoto']
    assert.deepEqual(await missingFrom(letter, known), {})
    const { sentences } = await checkLetter(letter, [note], known)
    assert.equal(sentences[0]?.source, null)
  })

  test('lists no single nouns of a language that writes them with capitals', async () => {
    const letter =
      'Wir haben die Unterlagen, die Rechnungen und die Verträge erhalten, danken für das Vertrauen und senden die Aufstellung der Kosten, der Fristen und der Termine mit dem Entwurf von Brenda Maier.'
    assert.deepEqual(await missingFrom(letter), { name: ['Brenda Maier'] })
  })

  test('links each sentence to the source it rests on, and names those that are not used', async () => {
    const letter =
      'Dear Anna,\n\nAs agreed in our meeting, the fixed fee for the annual accounts is $4,120. The weather was lovely throughout. Please send the bank statements by 30 March.'
    const { sentences, unused } = await checkLetter(letter, [invoice, note], [])
    assert.deepEqual(
      sentences.map(({ text, source }) => [text, source]),
      [
        ['Dear Anna,', null],
        ['As agreed in our meeting, the fixed fee for the annual accounts is $4,120.', 1],
        ['The weather was lovely throughout.', null],
        ['Please send the bank statements by 30 March.', 1],
      ],
    )
    assert.deepEqual(unused, [0])
  })

  test('lets others have their turn, however long letter and sources are', async () => {
    let turns = 0
    const turning = new AbortController()
    const turn = () => {
      turns += 1
      if (!turning.signal.aborted) setImmediate(turn)
    }
    turn()
    const letter = await plainText('Aa.\n\n'.repeat(20_000))
    await checkLetter(letter + 'We met. '.repeat(5000), [note.repeat(2000)], [])
    turning.abort()
    assert.ok(turns > 40, String(turns))
  })

  test('has nothing to say of an empty letter', async () => {
    assert.deepEqual(await checkLetter('', [note], []), { sentences: [], unused: [0] })
  })
})
