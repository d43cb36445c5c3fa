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

test('a faithful letter passes', () => {
  assert.deepEqual(verdictOf(good), { missing: [], invented: [], ended: true, onGround: true })
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

test('a reply that was cut off did not end', () => {
  assert.equal(verdictOf(good, 'max_output_tokens').ended, false)
})

test('off topic, only the confession with the way out is on its ground; on topic it is not', () => {
  const confession = "I am only Tollgate's demonstration model. Configure a real model in tollgate.yaml."
  const poem: Sample = { ...sample, job: 'offtopic', input: 'Write a poem.', required: [] }
  assert.equal(judge(poem, { text: confession, stopReason: 'complete' }, ordinary).onGround, true)
  assert.equal(judge(poem, { text: 'Roses are red.', stopReason: 'complete' }, ordinary).onGround, false)
  assert.equal(verdictOf(confession).onGround, false)
})
