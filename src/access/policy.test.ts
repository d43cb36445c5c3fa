import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byService, personActor, type Actor } from './actor.ts'
import { may, mayOnSome, scopeOf, type Action, type Facts, type Resource } from './policy.ts'

const consultant = personActor({ id: 'c', role: 'consultant' })
const developer = personActor({ id: 'd', role: 'developer' })
/** Actors with a partner's rights. */
const partners: readonly Actor[] = [
  personActor({ id: 'p', role: 'partner' }),
  { kind: 'command', user: 'root' },
  byService.actor,
]
const outsiders: readonly Actor[] = [{ kind: 'key', id: 'c' }, { kind: 'visitor' }]
const actions: readonly Action[] = ['list', 'read', 'create', 'change', 'assign', 'remove', 'export', 'erase']

/** All actions that a consultant may perform on their own records, a developer on accounts that they were granted, and a partner on any. */
const allowed: Readonly<
  Record<
    Exclude<Resource, 'own_sign_in'>,
    { consultant: readonly Action[]; developer?: readonly Action[]; partner: readonly Action[] }
  >
> = {
  client: { consultant: ['list', 'read', 'create', 'change', 'export'], partner: actions },
  note: { consultant: actions, partner: actions },
  dispute: { consultant: actions, partner: actions },
  letter: { consultant: actions, partner: actions },
  document: { consultant: actions, partner: actions },
  task: { consultant: actions, partner: actions },
  contact: { consultant: actions, partner: actions },
  time_entry: { consultant: actions, partner: actions },
  expense: { consultant: actions, partner: actions },
  person: { consultant: [], partner: actions },
  audit: { consultant: [], partner: ['list', 'read'] },
  usage: { consultant: [], developer: ['list', 'read'], partner: ['list', 'read'] },
  account: { consultant: [], developer: ['list', 'read'], partner: actions },
  key: { consultant: [], developer: ['list', 'read'], partner: actions },
  model: { consultant: [], partner: actions },
  invoice: { consultant: [], partner: actions },
}

test('the policy for own_sign_in', () => {
  for (const action of actions) {
    for (const insider of [consultant, developer, ...partners]) assert.equal(may(insider, action, 'own_sign_in'), true)
    for (const outsider of outsiders) assert.equal(may(outsider, action, 'own_sign_in'), false)
  }
})

for (const noun of [
  'client',
  'note',
  'dispute',
  'letter',
  'document',
  'task',
  'contact',
  'time_entry',
  'expense',
  'person',
  'audit',
  'usage',
  'account',
  'key',
  'model',
  'invoice',
] as const) {
  const who = allowed[noun]
  test(`the policy for ${noun}`, () => {
    for (const action of actions) {
      const own = who.consultant.includes(action)
      assert.equal(may(consultant, action, noun, { consultantId: 'c' }), own, `consultant, own: ${action}`)
      assert.equal(may(consultant, action, noun, { consultantId: 'other' }), false, `consultant, foreign: ${action}`)
      assert.equal(may(consultant, action, noun), false, `consultant, unknown owner: ${action}`)
      assert.deepEqual(scopeOf(consultant, action, noun), own ? { of: 'consultant', id: 'c' } : { of: 'none' })
      const seen = who.developer?.includes(action) ?? false
      const facts = { consultantId: 'd', isGranted: true }
      assert.equal(may(developer, action, noun, facts), seen, `developer, granted: ${action}`)
      assert.equal(may(developer, action, noun, { ...facts, isGranted: false }), false, `developer: ${action}`)
      assert.equal(mayOnSome(developer, action, noun), seen)
      assert.deepEqual(scopeOf(developer, action, noun), { of: 'none' })
      for (const outsider of outsiders) {
        assert.equal(
          may(outsider, action, noun, { consultantId: 'c', isGranted: true }),
          false,
          `${outsider.kind}: ${action}`,
        )
        assert.deepEqual(scopeOf(outsider, action, noun), { of: 'none' })
      }
      for (const boss of partners) {
        const every = who.partner.includes(action)
        assert.equal(may(boss, action, noun, { consultantId: 'other' }), every, `${boss.kind}: ${action}`)
        assert.deepEqual(scopeOf(boss, action, noun), { of: every ? 'all' : 'none' })
      }
    }
  })
}

const mayApprove = (actor: Actor, facts: Facts) => may(actor, 'approve', 'letter', facts)

test('the rule of the firm says who may approve a letter that they may change', () => {
  const partner = personActor({ id: 'p', role: 'partner' })
  const cases = [
    // [rule, wrote, consultant, partner]
    ['anyone', true, true, true],
    ['not-writer', true, false, false],
    ['not-writer', false, true, true],
    ['partners', true, false, true],
    ['partners', false, false, true],
  ] as const
  for (const [rule, wrote, byConsultant, byPartner] of cases) {
    const facts = { consultantId: 'c', approval: { rule, wrote } }
    assert.equal(mayApprove(consultant, facts), byConsultant, `consultant, ${rule}, wrote: ${wrote}`)
    assert.equal(mayApprove(partner, facts), byPartner, `partner, ${rule}, wrote: ${wrote}`)
    assert.equal(mayApprove(consultant, { ...facts, consultantId: 'other' }), false)
    for (const outsider of [developer, ...outsiders]) assert.equal(mayApprove(outsider, facts), false)
  }
  for (const actor of [consultant, partner])
    assert.equal(mayApprove(actor, { consultantId: 'c' }), false, 'no rule is known')
  assert.deepEqual(scopeOf(consultant, 'approve', 'letter'), { of: 'consultant', id: 'c' })
  assert.deepEqual(scopeOf(partner, 'approve', 'letter'), { of: 'all' })
})
