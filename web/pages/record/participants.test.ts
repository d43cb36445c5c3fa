import assert from 'node:assert/strict'
import { test } from 'node:test'
import { participantsOf } from './participants.ts'

test('participants are suggested once, those of the newest note first, and not without end', () => {
  const notes = [
    { date: '2026-03-01', participants: ['Maria Lopes', 'Ruth Penhallow'] },
    { date: '2026-03-12', participants: ['Daniel Okonjo', 'MARIA LOPES'] },
    { date: '2026-02-01', participants: [] },
  ]
  assert.deepEqual(participantsOf(notes), ['Daniel Okonjo', 'MARIA LOPES', 'Ruth Penhallow'])
  const crowd = Array.from({ length: 300 }, (_, n) => `Name ${n}`)
  assert.equal(participantsOf([{ date: '2026-01-01', participants: crowd }]).length, 200)
})
