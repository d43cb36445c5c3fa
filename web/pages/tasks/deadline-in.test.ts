import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deadlineIn, type DayWords } from './deadline-in.ts'

/** A Wednesday. */
const today = '2026-12-02'
const sentenceIn = (text: string) => deadlineIn(text, today)?.sentence
const dayIn = (text: string, on = today) => deadlineIn(text, on)?.day

describe('a text names the day of', () => {
  for (const [text, day] of [
    ['We send the plan by Monday', '2026-12-07'],
    ['We send the plan by monday.', '2026-12-07'],
    ['By Monday, we send the plan.', '2026-12-07'],
    ['Send it by Wednesday.', '2026-12-09'],
    ['Send it by this Friday', '2026-12-04'],
    ['Send it by the coming Sun.', undefined],
    ['Send it by Sun.', '2026-12-06'],
    ['Reply (by Thurs)', '2026-12-03'],
    ['Reply by 5 pm on Thursday', '2026-12-03'],
    ['Reply by noon Thursday', '2026-12-03'],
    ['Reply before Friday', '2026-12-03'],
    ['Reply until Friday', '2026-12-04'],
    ['Reply no later than Friday', '2026-12-04'],
    ['Reply by next Friday', '2026-12-11'],
    ['We talk again next Friday', '2026-12-11'],
    ['Reply by next Monday', '2026-12-07'],
    ['Pay by today', today],
    ['Pay by the end of the day', today],
    ['Pay by tonight', today],
    ['Call them by tomorrow', '2026-12-03'],
    ['Call them by the day after tomorrow', '2026-12-04'],
    ['File it by 12 December', '2026-12-12'],
    ['File it by 12th December', '2026-12-12'],
    ['File it by the 12th of December', '2026-12-12'],
    ['File it by Saturday, 12 December', '2026-12-12'],
    ['File it by Saturday the 12th of December', '2026-12-12'],
    ['File it by 12 Dec. at the latest', '2026-12-12'],
    ['File it by December 12', '2026-12-12'],
    ['File it by December 12th, 2027', '2027-12-12'],
    ['File it by Sept. 1, 2027', '2027-09-01'],
    ['File it by 2 December', today],
    ['File it by 2026-12-12', '2026-12-12'],
    ['File it by 12.12.2026', '2026-12-12'],
    ['File it by the 12th', '2026-12-12'],
    ['File it by the 1st.', '2027-01-01'],
    ['File it by the 31st', '2026-12-31'],
    ['File it by 10 January', '2027-01-10'],
    ['File it by 29 February 2028', '2028-02-29'],
    ['Close the books by the end of the month', '2026-12-31'],
    ['Close the books by end of month', '2026-12-31'],
    ['Close the books by month-end', '2026-12-31'],
    ['Close the books by the end of next month', '2027-01-31'],
    ['Close the books by the end of the week', '2026-12-04'],
    ['Close the books by the end of next week', '2026-12-11'],
    ['Close the books by the end of the year', '2026-12-31'],
    ['Close the books by the end of February', '2027-02-28'],
    ['Close the books by the end of December', '2026-12-31'],
    ['They answer within two weeks', '2026-12-16'],
    ['They answer within 14 days', '2026-12-16'],
    ['They answer within a fortnight', '2026-12-16'],
    ['They answer within the next three working days', '2026-12-07'],
    ['They answer within a month', '2027-01-02'],
  ] as const) {
    test(text, () => assert.equal(dayIn(text), day))
  }

  test('the next one on a day of that name, and the last of a shorter month', () => {
    assert.equal(dayIn('by Monday', '2026-12-07'), '2026-12-14')
    assert.equal(dayIn('by next Friday', '2026-12-05'), '2026-12-11')
    assert.equal(dayIn('within a month', '2027-01-31'), '2027-02-28')
  })
})

describe('a text names no day', () => {
  for (const text of [
    '',
    'This is by far the best offer.',
    'We stand by Monday, whatever comes.',
    'They stood by Friday’s offer.',
    'Sent by mail, by the way, by mistake.',
    'He came by Monday.',
    'Decided by Friday’s meeting',
    "Decided by Friday's meeting",
    'We met on Monday.',
    'Nothing has changed since next Friday',
    'Covered by sun and wed by sat nav',
    'He left by May.',
    'We are by the 12th floor.',
    'Paid by 12 November',
    'Paid by 12 December 2025',
    'Paid by Monday, 1 December 2025',
    'Paid by 2026-12-01',
    'Paid by 1 December 2026',
    'Paid by 30 February',
    'Paid by 2027-02-30',
    'Paid by the 32nd',
    'Paid by the end of November',
    'Paid before today',
    'Paid within budget, within reason',
    '> Please pay by Monday.',
    '  > > Please pay by Monday.',
    'On Tue, 1 Dec 2026 at 10:12, Maria Berg wrote:\nPlease pay by Monday.',
    '-----Original Message-----\nPlease pay by Monday.',
    'From: Maria Berg <maria@example.com>\nPlease pay by Monday.',
    'Bymonday standby Monday',
  ]) {
    test(text, () => assert.equal(dayIn(text), undefined))
  }
})

describe('the sentence', () => {
  test('is the one that names the day, without marks', () => {
    const text =
      'Met Maria. She wants 2.5 % off!\n\n- [ ] **Send** the `plan` by\u{20}Monday. Then wait. Pay by Friday.'
    assert.deepEqual(deadlineIn(text, today), { sentence: 'Send the plan by Monday.', day: '2026-12-07' })
    assert.equal(sentenceIn('1. Send it by 12 Dec. at the latest. Then wait.'), 'Send it by 12 Dec. at the latest.')
  })

  test('names the first of its days', () => {
    assert.equal(dayIn('Draft by Friday, file by 2026-12-31, pay by Monday'), '2026-12-04')
    assert.equal(dayIn('Paid by 12 November, file by Monday'), '2026-12-07')
  })

  test('before a quoted mail counts', () => {
    assert.equal(sentenceIn('Answer by Monday.\n> Answer by Friday.'), 'Answer by Monday.')
  })

  test('is cut off after 300 characters', () => {
    const sentence = sentenceIn(`${'very '.repeat(80)}long by Monday`) ?? ''
    assert.equal(sentence.length, 300)
    assert.ok(sentence.endsWith('…'))
  })

  test('of a long text is found at once', () => {
    assert.equal(sentenceIn('by 12 by the 3rd floor '.repeat(5000)), undefined)
  })
})

test('another language is a table of its phrases', () => {
  const german: DayWords = {
    phrases: [
      {
        pattern: /\bbis (?<day>morgen|übermorgen)(?!\p{L})/giu,
        dayOf: ({ day }) => (day === 'morgen' ? '2026-12-03' : '2026-12-04'),
      },
    ],
    quotedFrom: /^Am .+ schrieb/,
  }
  assert.deepEqual(deadlineIn('Bitte bis übermorgen.', today, german), {
    sentence: 'Bitte bis übermorgen.',
    day: '2026-12-04',
  })
})
