import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sample } from './evaluation-file.ts'
import { judge } from './verdict.ts'

const sample: Sample = {
  set: 'held out',
  job: 'letter',
  instructions: 'Draft a letter to the client.',
  input: 'Meeting 12 March – Anna Berg\n- fee £2,400\n- the bank to answer by 3 April',
  required: ['Berg', '12 March', '£2,400', '3 April'],
}
const ordinary = new Set(['Dear', 'Thank', 'The', 'Kind'])
const good =
  'Dear Anna Berg,\n\nThank you for meeting with us on 12 March.\n\nThe fee is £2,400. The bank will answer by 3 April.\n\nKind regards,'

function verdictOf(text: string, stopReason = 'complete') {
  return judge(sample, { text, stopReason }, ordinary)
}

function isRight(job: string, text: string): boolean {
  return judge({ ...sample, job }, { text, stopReason: 'complete' }, ordinary).rightJob
}

test('a faithful letter passes', () => {
  assert.deepEqual(verdictOf(good), { missing: [], invented: [], ended: true, rightJob: true })
})

test('what is left out is named', () => {
  assert.deepEqual(verdictOf(good.replace('£2,400', 'high')).missing, ['£2,400'])
  assert.deepEqual(verdictOf(good.replace('Berg', 'Burg')).missing, ['Berg'])
})

test('figures, dates and names that the prompt does not hold are named', () => {
  assert.deepEqual(verdictOf(good.replace('£2,400', '£2,400.50')).invented, ['2,400.50'])
  assert.deepEqual(verdictOf(good.replace('3 April', '3 May')).invented, ['May'])
  assert.deepEqual(verdictOf(`${good}\nTom Hill`).invented, ['Tom', 'Hill'])
  assert.deepEqual(verdictOf(good.replace('The bank', 'Victor')).invented, ['Victor'])
})

test('a word of the prompt may open a sentence, and the numbers of a list are no figures', () => {
  assert.deepEqual(verdictOf('1. Bank: answer by 3 April\n2. Fee: £2,400').invented, [])
})

test('a name behind a hyphen of the prompt is known, a part of a name is not', () => {
  const hyphened = { ...sample, input: 'Omar Al-Sayed answers by mid-January' }
  const invented = (text: string) => judge(hyphened, { text, stopReason: 'complete' }, ordinary).invented
  assert.deepEqual(invented('- Omar Al-Sayed answers by mid-January'), [])
  assert.deepEqual(invented('- Omar Sayed answers by mid-March'), ['March', 'Sayed'])
})

test('a reply that was cut off did not end', () => {
  assert.equal(verdictOf(good, 'max_output_tokens').ended, false)
})

test('off topic, only the confession with the way out is right; on topic it is not', () => {
  const confession = "I am only Tollgate's demonstration model. Configure a real model in tollgate.yaml."
  assert.equal(isRight('offtopic', confession), true)
  assert.equal(isRight('offtopic', 'Roses are red.'), false)
  assert.equal(isRight('offtopic', "I am only Tollgate's demonstration model."), false)
  for (const job of ['letter', 'summary', 'actions', 'dispute']) assert.equal(isRight(job, confession), false, job)
})

test('each job is distinguished from the others', () => {
  const replies: Record<string, string> = {
    letter: good,
    summary: 'We met Anna Berg on 12 March. The fee is £2,400; the bank will answer by 3 April.',
    actions: '- Bank: answer by 3 April\n- We: send the offer',
    dispute:
      'Dear Anna Berg,\n\nThank you for your message about invoice 7 of 12 March for £2,400. You write that it is late.\n\nKind regards,\nTom Hill',
  }
  for (const job of Object.keys(replies)) {
    for (const [given, text] of Object.entries(replies))
      assert.equal(isRight(job, text), job === given, `${given} for ${job}`)
  }
  assert.equal(isRight('actions', '1. Bank: answer by 3 April'), true)
  assert.equal(isRight('actions', 'There are no action items in these notes.'), true)
  assert.equal(isRight('actions', 'These are the items:\n- Bank: answer'), false)
  assert.equal(isRight('summary', 'We met Anna Berg.\n\nThe fee is £2,400.'), false)
  assert.equal(isRight('letter', good.replace('Kind regards,', '')), false)
})
