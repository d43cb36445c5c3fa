import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startPortal } from '../support/portal.ts'

type Policy = 'anyone' | 'invited' | 'domain'
/** Who comes: their address, and whether somebody entered it beforehand. */
const visitors = {
  'of the firm': { email: 'new@firm.example', verified: true, entered: false },
  'of the firm, not verified': { email: 'new@firm.example', verified: false, entered: false },
  'of the firm, entered': { email: 'known@firm.example', verified: true, entered: true },
  'of the firm, entered, not verified': { email: 'known@firm.example', verified: false, entered: true },
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

for (const [policy, names] of Object.entries(admitted)) {
  describe(`B72: where ${policy} may sign up`, () => {
    for (const [name, { email, verified, entered }] of Object.entries(visitors)) {
      const isAdmitted = names.some((each) => each === name)
      test(`${name} is ${isAdmitted ? 'let in' : 'refused'}`, async () => {
        const portal = await startPortal({
          signIn: policyOf(policy === 'anyone' ? 'anyone' : policy === 'domain' ? 'domain' : 'invited'),
        })
        try {
          if (entered) await portal.service.people.create({ name: 'Known', email, role: 'partner' })
          portal.provider.say({ subject: 'somebody', email })
          portal.provider.lies.claims = { email_verified: verified }
          const had = await portal.counts()
          const profile = portal.profile()
          const page = await profile.signIn('firm')
          if (!isAdmitted) return await portal.assertRefused(page, [403, 'sign_in_refused'], had)
          assert.equal(page.status, 303, page.text)
          // B75: whoever comes by themselves is a consultant; with no clients, since none was given to them.
          assert.equal((await profile.who())?.['role'], entered ? 'partner' : 'consultant')
          assert.deepEqual((await profile.ask('/clients')).json['total'], 0)
          assert.equal(await portal.count('person'), entered ? had.person : had.person + 1)
        } finally {
          await portal.close()
        }
      })
    }
  })
}

test('B72: a refusal is the same for a stranger, for an address that is somebody’s, and for somebody disabled', async () => {
  const portal = await startPortal({ signIn: policyOf('invited') })
  try {
    const { people } = portal.service
    await people.create({ name: 'Taken', email: 'taken@firm.example', role: 'consultant' })
    portal.provider.say({ subject: 'owner', email: 'taken@firm.example' })
    assert.equal((await portal.profile().signIn('firm')).status, 303)
    const disabled = await people.create({ name: 'Gone', email: 'gone@firm.example', role: 'consultant' })
    await people.setStatus(disabled.id, 'disabled')
    const reasons = new Set<string>()
    for (const email of ['stranger@firm.example', 'taken@firm.example', 'gone@firm.example']) {
      portal.provider.say({ subject: `not the owner of ${email}`, email })
      const { status, text } = await portal.profile().signIn('firm')
      assert.equal(status, 403)
      reasons.add(text.replace(/"request_id":"[^"]*"/, ''))
    }
    assert.equal(reasons.size, 1)
    assert.equal(await portal.count('identity'), 1)
  } finally {
    await portal.close()
  }
})

test('B73: a domain is matched exactly, and looked at again at every sign-in', async () => {
  const portal = await startPortal({ signIn: policyOf('domain') })
  try {
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
  } finally {
    await portal.close()
  }
})

test('an entered person goes to the first identity with their address, also when two come at the same moment', async () => {
  const portal = await startPortal({ signIn: policyOf('invited') })
  try {
    await portal.service.people.create({ name: 'Known', email: 'known@firm.example', role: 'partner' })
    const backs = []
    for (const subject of ['one', 'two', 'three', 'four']) {
      const profile = portal.profile()
      backs.push({ subject, profile, back: await profile.callbackOf(await profile.start('firm')) })
    }
    const statuses = await Promise.all(
      backs.map(async ({ subject, profile, back }) => {
        portal.provider.say({ subject, email: 'known@firm.example' })
        return (await profile.ask(back)).status
      }),
    )
    assert.equal(await portal.count('identity'), 1)
    assert.ok(statuses.includes(303), statuses.join(' '))
  } finally {
    await portal.close()
  }
})
