import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReadSource } from './drafting-store.ts'
import { promptInput, tooLong } from './prompt.ts'

const parts = { client: 'Berg & Sons', writer: 'Ruth Penhallow', currency: 'USD' }
const note = (text: string, participants: readonly string[] = []): ReadSource => {
  const own = { text, length: text.length, participants, amount: null, missing: null }
  return { kind: 'note', id: 'n', version: 1, title: '2026-03-12', ...own }
}
const dispute = (amount: string, text = 'Complaint: x'): ReadSource => {
  const own = { text, length: text.length, participants: [], amount, missing: null }
  return { kind: 'dispute', id: 'd', version: 1, title: 'R-7', ...own }
}

describe('the input of a draft', () => {
  test('has the day and the people of a note where its text does not name them', () => {
    assert.equal(
      promptInput([note('We agreed on a fee.', ['Anna Berg', 'Ben Berg'])], parts),
      'Meeting on 12 March 2026 with Anna Berg and Ben Berg\nWe agreed on a fee.\n\nSigned: Ruth Penhallow.',
    )
    assert.equal(
      promptInput([note('Ms Berg came on 12 March.', ['Anna Berg', 'Tom Lee'])], parts),
      'Meeting with Tom Lee\nMs Berg came on 12 March.\n\nSigned: Ruth Penhallow.',
    )
    assert.equal(
      promptInput([note('Ms Berg came on 12 March.', ['Anna Berg'])], parts),
      'Ms Berg came on 12 March.\n\nSigned: Ruth Penhallow.',
    )
    assert.equal(
      promptInput([note('Ms Berg came on 2 March.', ['Anna Berg'])], parts),
      'Meeting on 12 March 2026\nMs Berg came on 2 March.\n\nSigned: Ruth Penhallow.',
    )
  })

  test('has the client, the invoice and the exact amount of a dispute', () => {
    assert.equal(
      promptInput([dispute('1160000000000000')], parts),
      'Client: Berg & Sons\nInvoice: R-7\nAmount: $1,160\nComplaint: x\n\nReply from Ruth Penhallow',
    )
    assert.match(promptInput([dispute('123456789012123456789012')], parts), /\$123,456,789,012\.123456789012\n/)
    assert.match(promptInput([dispute('12500000000000')], parts), /\$12\.50\n/)
  })

  test('has all sources in their order, and one signature', () => {
    const input = promptInput([dispute('1'), note('On 12 March: one.'), note('On 12 March: two.')], parts)
    assert.match(input, /^Client: [^]*\n\nOn 12 March: one\.\n\nOn 12 March: two\.\n\nReply from Ruth Penhallow$/)
  })
})

const long = (day: string, length: number): ReadSource => ({ ...note('x'.repeat(length)), title: day })
const said = (instructions: string, sources: readonly ReadSource[]) => {
  const { code, message, details } = tooLong(instructions, sources, 1000)
  assert.equal(code, 'context_length_exceeded')
  assert.match(message, /1000 tokens/)
  return [details.field, message]
}

describe('a prompt that is too long', () => {
  test('names the sources to leave out: the longest, until the others would fit', () => {
    const [field, reason] = said('Write.', [
      long('2026-01-01', 2000),
      long('2026-01-02', 3000),
      long('2026-01-03', 300),
    ])
    assert.equal(field, 'notes')
    assert.match(
      String(reason),
      /^The notes, disputes and documents are too long.* Leave some out: the note of 2026-01-02\.$/,
    )
    assert.match(
      String(said('Write.', [long('2026-01-01', 3000)])[1]),
      /^The note of 2026-01-01 is too long.* Shorten it/,
    )
  })

  test('names the field that is to be changed', () => {
    assert.equal(said('Write.', [dispute('1', 'x'.repeat(3000)), note('short')])[0], 'disputes')
    const [field, reason] = said('x'.repeat(3000), [note('short'), dispute('1')])
    assert.deepEqual(
      [field, /^The instructions are too long.* Shorten them\.$/.test(String(reason))],
      ['instructions', true],
    )
  })
})
