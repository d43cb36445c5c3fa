import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { startPortal } from '../support/portal.ts'
import type { Page } from '../support/profile.ts'
import { fixture } from '../support/fixture.ts'

type Policy = 'anyone' | 'invited' | 'domain'
/** The visitors: their address, and whether a person with it was created before. */
const visitors = {
  'of the firm': { email: 'new@firm.example', verified: true, entered: false },
  'of the firm, not verified': { email: 'unproven@firm.example', verified: false, entered: false },
  'of the firm, entered': { email: 'known@firm.example', verified: true, entered: true },
  'of the firm, entered, not verified': { email: 'claimed@firm.example', verified: false, entered: true },
  stranger: { email: 'new@elsewhere.example', verified: true, entered: false },
  'stranger, entered': { email: 'known@elsewhere.example', verified: true, entered: true },
}
const admitted: Record<Policy, (keyof typeof visitors)[]> = {
  anyone: ['of the firm', 'of the firm, entered', 'stranger', 'stranger, entered'],
  invited: ['of the firm, entered', 'stranger, entered'],
  domain: ['of the firm', 'of the firm, entered'],
}

const policyOf = (policy: Policy) => ({
  sign_up: { policy, ...(policy === 'domain' && { domains: ['firm.example'] }) },
})

for (const policy of ['anyone', 'invited', 'domain'] as const) {
  describe(`B72, B75: with the sign-up policy "${policy}"`, () => {
    const portal = fixture(() => startPortal({ signIn: policyOf(policy) }))
    for (const [name, { email, verified, entered }] of Object.entries(visitors)) {
      const isAdmitted = admitted[policy].some((each) => each === name)
      test(`${name} is ${isAdmitted ? 'admitted' : 'refused'}`, async () => {
        if (entered) await portal.service.people.create({ name: 'Known', email, role: 'partner' }, byService)
        portal.provider.say({ subject: email, email })
        portal.provider.lies.claims = { email_verified: verified }
        const had = await portal.counts()
        const profile = portal.profile()
        const page = await profile.signIn('firm')
        if (!isAdmitted) return await portal.assertRefused(page, [403, 'sign_in_refused'], had)
        assert.equal(page.status, 303, page.text)
        // B75: a person who signs up is a consultant without clients.
        assert.equal((await profile.who())?.['role'], entered ? 'partner' : 'consultant')
        assert.deepEqual((await profile.ask('/clients')).json['total'], 0)
        assert.equal(await portal.count('person'), entered ? had.person : had.person + 1)
      })
    }
  })
}

test('a sign-up and a change of address are refused if they cannot be recorded in the audit log', async () => {
  await using portal = await startPortal()
  const { database } = portal.service
  const known = portal.newcomer()
  assert.equal((await portal.profile().signIn('firm')).status, 303)
  const before = await database.rows('select id, email from person order by id')
  await database.rows(`create trigger full_disk before insert on audit for each row
    when (new.action in ('person_created', 'email_changed')) execute function refuse_change()`)
  portal.provider.say({ ...known, email: 'moved@example.com' })
  assert.ok((await portal.profile().signIn('firm')).status >= 500)
  portal.newcomer()
  assert.ok((await portal.profile().signIn('firm')).status >= 500)
  assert.deepEqual(await database.rows('select id, email from person order by id'), before)
})

function reasonOf({ status, text }: Page): string {
  assert.equal(status, 403)
  return text.replace(/"request_id":"[^"]*"/, '')
}

test('B72: the refusal is the same for a stranger, for another person’s address and for a disabled person', async () => {
  await using portal = await startPortal({ signIn: policyOf('invited') })
  const { people } = portal.service
  await people.create({ name: 'Taken', email: 'taken@firm.example', role: 'consultant' }, byService)
  portal.provider.say({ subject: 'owner', email: 'taken@firm.example' })
  assert.equal((await portal.profile().signIn('firm')).status, 303)
  const disabled = await people.create({ name: 'Gone', email: 'gone@firm.example', role: 'consultant' }, byService)
  await people.setStatus(disabled.id, 'disabled', byService)
  const reasons = new Set<string>()
  const left = await people.create({ name: 'Left', email: 'left@firm.example', role: 'consultant' }, byService)
  portal.provider.say({ subject: 'left', email: 'left@firm.example' })
  await portal.profile().signIn('firm')
  await people.setStatus(left.id, 'disabled', byService)
  reasons.add(reasonOf(await portal.profile().signIn('firm')))
  for (const email of ['stranger@firm.example', 'taken@firm.example', 'gone@firm.example']) {
    portal.provider.say({ subject: `not the owner of ${email}`, email })
    reasons.add(reasonOf(await portal.profile().signIn('firm')))
  }
  assert.equal(reasons.size, 1)
  assert.equal(await portal.count('identity'), 2)
})

test('B73: a domain is matched exactly, and checked again at every sign-in', async () => {
  await using portal = await startPortal({ signIn: policyOf('domain') })
  const foreign = [
    'a@sub.firm.example',
    'a@xfirm.example',
    'a@firm.example.evil.example',
    'a@firm.exampl',
    'a@firm.example.',
    'a@firm.example@evil.example',
    'a@evil.example@firm.example',
    '"a@evil.example"@firm.example',
    'a@fіrm.example',
    'a@ﬁrm.example',
    'a@firm。example',
    'a@fi\u00ADrm.example',
    'a@firm.example\0',
    'a@firm.example evil@evil.example',
    'firm.example',
    '@firm.example',
  ]
  for (const email of foreign) {
    portal.provider.say({ subject: `subject ${email.codePointAt(3)} ${email.length}`, email })
    const had = await portal.counts()
    await portal.assertRefused(await portal.profile().signIn('firm'), [403, 'sign_in_refused'], had)
  }
  portal.provider.say({ subject: 'somebody', email: 'Some.Body@FIRM.example' })
  const profile = portal.profile()
  assert.equal((await profile.signIn('firm')).status, 303)
  portal.provider.say({ subject: 'somebody', email: 'some.body@elsewhere.example' })
  const had = await portal.counts()
  await portal.assertRefused(await profile.signIn('firm'), [403, 'sign_in_refused'], had)
  portal.provider.say({ subject: 'somebody', email: 'some.body@firm.example' })
  portal.provider.lies.claims = { email_verified: false }
  await portal.assertRefused(await profile.signIn('firm'), [403, 'sign_in_refused'], had)
})
