import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMarkdown } from './markdown.ts'
import { splitSignOff } from './sign-off.ts'

const split = (end: string) => {
  const letter = { closing: 'Yours sincerely,', author: 'Anna Berg' }
  const { body, signOff } = splitSignOff(readMarkdown(`Thank you.\n\n${end}`), letter)
  return { paragraphs: body.length, ...signOff }
}

test('up to three lines below a closing are its names', () => {
  const names = ['Anna Berg', 'Partner', 'Penhallow Advisory']
  const end = ['Kind regards,', ...names].join('\n')
  assert.deepEqual(split(end), { paragraphs: 1, closing: 'Kind regards,', names })
})

test('a longer paragraph that begins like a closing stays in the text', () => {
  const end = ['Kind regards,', 'to your family too.', 'We met them in May,', 'in Falmouth,', 'at the harbour.'].join(
    '\n',
  )
  assert.deepEqual(split(end), { paragraphs: 2, closing: 'Yours sincerely,', names: ['Anna Berg'] })
})
