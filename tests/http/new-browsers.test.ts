import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgetSteps, giveFactor, setUpTotp } from '../support/own-account.ts'
import { openMailingPortal } from '../support/mailing-portal.ts'
import type { Profile } from '../support/profile.ts'
import { totpCode } from '../support/totp.ts'

const subject = 'A sign-in in a new browser'
const { portal, mailsTo, mailTo } = openMailingPortal()

async function signIns(profile: Profile): Promise<object[]> {
  const { json } = await profile.ask('/me', { headers: { accept: 'application/json' } })
  const listed = json['sign_ins']
  assert.ok(Array.isArray(listed))
  return listed.map(({ at, ...signIn }: { readonly at: string }) => {
    assert.match(at, /^\d{4}-/)
    return signIn
  })
}

test('a sign-in in a further browser is reported once it is complete, and is on the page of its person alone', async () => {
  const stranger = await portal.enter('consultant')
  const { profile, email } = await portal.enter('consultant')
  const { secret } = await setUpTotp(profile)
  await forgetSteps(portal.service.database)
  const other = portal.profile()
  await other.signIn('firm')
  assert.deepEqual(
    [...other.cookies().keys()].filter((name) => name.includes('browser')),
    [],
  )
  const passed = await giveFactor(other, 'totp', { code: totpCode(secret) })
  assert.equal(passed.status, 200, passed.text)

  const { text } = await mailTo(email, { subject })
  assert.match(text, /Unknown browser, on \d+ \w+ \d{4} at \d\d:\d\d \(UTC\), from the network 127\.0\.0\.0\/24\./)
  assert.match(text, /“Sign out everywhere”/)
  assert.match(text, /https:\/\/tollgate\.test\/me$/m)
  assert.equal(mailsTo(email).filter((mail) => mail.subject === subject).length, 1)
  assert.equal(mailsTo(stranger.email).length, 0)

  const firm = { method: 'firm', method_name: 'Firm account', device: 'Unknown browser', address: '127.0.0.0/24' }
  assert.deepEqual(await signIns(other), [
    { ...firm, current: true },
    { ...firm, current: false },
  ])

  const thief = portal.profile()
  for (const [name, value] of other.cookies()) if (name.includes('browser')) thief.cookies().set(name, value)
  assert.equal(await thief.who(), undefined)
})
