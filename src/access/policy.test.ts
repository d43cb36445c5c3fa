import assert from 'node:assert/strict'
import { test } from 'node:test'
import { may, scopeOf, type Action, type Noun, type Subject } from './policy.ts'

const consultant: Subject = { id: 'c', role: 'consultant' }
const partner: Subject = { id: 'p', role: 'partner' }
const operator: Subject = { id: null, role: 'partner' }
const actions: readonly Action[] = ['list', 'read', 'create', 'change', 'assign', 'remove']

/** What a consultant may do with their own, and a partner with anything; nobody may do more. */
const allowed: Readonly<Record<Noun, { consultant: readonly Action[]; partner: readonly Action[] }>> = {
  client: { consultant: ['list', 'read', 'create', 'change'], partner: actions },
  note: { consultant: actions, partner: actions },
  dispute: { consultant: actions, partner: actions },
  letter: { consultant: actions, partner: actions },
  person: { consultant: [], partner: actions },
  audit: { consultant: [], partner: ['list', 'read'] },
}

for (const noun of ['client', 'note', 'dispute', 'letter', 'person', 'audit'] as const) {
  const who = allowed[noun]
  test(`what the policy lets people do with ${noun}`, () => {
    for (const action of actions) {
      const own = who.consultant.includes(action)
      assert.equal(may(consultant, action, noun, { consultantId: 'c' }), own, `consultant, own: ${action}`)
      assert.equal(may(consultant, action, noun, { consultantId: 'other' }), false, `consultant, foreign: ${action}`)
      assert.equal(may(consultant, action, noun), false, `consultant, unknown whose: ${action}`)
      assert.deepEqual(scopeOf(consultant, action, noun), own ? { of: 'consultant', id: 'c' } : { of: 'none' })
      for (const boss of [partner, operator]) {
        const every = who.partner.includes(action)
        assert.equal(may(boss, action, noun, { consultantId: 'other' }), every, `partner: ${action}`)
        assert.deepEqual(scopeOf(boss, action, noun), { of: every ? 'all' : 'none' })
      }
    }
  })
}

test('a consultant without an id is nobody', () => {
  const nobody: Subject = { id: null, role: 'consultant' }
  assert.equal(may(nobody, 'read', 'client', {}), false)
  assert.deepEqual(scopeOf(nobody, 'read', 'client'), { of: 'none' })
})
