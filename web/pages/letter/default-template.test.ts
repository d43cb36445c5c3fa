import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultFor } from './default-template.ts'
import type { Template } from './wire.ts'

const template = (kind: string, name: string, isDefault = true): Template => ({
  id: name,
  kind,
  name,
  instructions: name,
  is_default: isDefault,
  version: 1,
  updated_at: '2026-03-12T09:30:00.000Z',
  updated_by: null,
})
const meeting = template('After a meeting', 'Letter')
const dispute = template('Billing Disputes', 'Reply')
const fromDispute = { notes: [], disputes: ['d'] }
const fromNote = { notes: ['n'], disputes: [] }

test('a draft starts with the default for what it is about', () => {
  for (const templates of [
    [meeting, dispute],
    [dispute, meeting],
    [template('After a meeting', 'Other', false), template('A dispute', 'Other reply', false), dispute, meeting],
  ]) {
    assert.equal(defaultFor(fromDispute, templates), dispute)
    assert.equal(defaultFor(fromNote, templates), meeting)
    assert.equal(defaultFor({ notes: ['n'], disputes: ['d'] }, templates), meeting)
  }
})

test('without a default of its own, it starts with the first', () => {
  const reminder = template('Reminder', 'Reminder')
  assert.equal(defaultFor(fromDispute, [meeting, reminder]), meeting)
  assert.equal(defaultFor(fromNote, [dispute]), dispute)
  assert.equal(defaultFor(fromNote, [template('Reminder', 'Reminder', false)]), undefined)
})
