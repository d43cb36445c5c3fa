import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { at } from '../support/json.ts'
import { startMailServer } from '../support/mail-server.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { forgetSteps, post, setUpTotp } from '../support/own-account.ts'
import { startPortal, type Portal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { startSmsGateway } from '../support/sms-gateway.ts'

let portal: Portal

const gateway = fixture(() => startSmsGateway())
const mail = fixture(() => startMailServer())
setUp(async () => {
  const signIn = { second_factor: 'partners', email_link: true, password: true }
  portal = await startPortal({ mail: mail.url, sms: { url: gateway.url, token: 'gateway-token' }, signIn })
})
after(() => portal.close())

const left = (page: Page) => at(page.json, 'error', 'limit')
const reason = (page: Page) => String(at(page.json, 'error', 'reason'))

/** Submits five wrong codes. Each response says how many attempts are left, in data and in words; the last says to start again. */
async function assertCounted(submit: () => Promise<Page>): Promise<void> {
  for (const remaining of [4, 3, 2, 1, 0]) {
    const page = await submit()
    assert.equal(page.status, 400, page.text)
    assert.deepEqual(left(page), { name: 'tries', value: 5, remaining })
    const words = remaining === 0 ? /No attempts are left\. Start again\.$/ : /(?:attempts are|One attempt is) left\.$/
    assert.match(reason(page), words)
    if (remaining > 1) assert.match(reason(page), new RegExp(` ${remaining} attempts`))
  }
  const over = await submit()
  assert.deepEqual([over.status, left(over)], [400, undefined], 'the attempt cannot be used any more')
}

async function proven(): Promise<Profile> {
  const profile = portal.profile()
  assert.equal((await profile.signIn('firm')).location, '/signin')
  return profile
}

describe('a wrong code says how many attempts are left', () => {
  test('of an authenticator app', async () => {
    await setUpTotp((await portal.enter('consultant')).profile)
    await forgetSteps(portal.service.database)
    const profile = await proven()
    await post(profile, '/auth/second-factor/start', { factor: 'totp' })
    await assertCounted(() => post(profile, '/auth/second-factor', { input: { code: '000000' } }))
  })

  test('of a recovery code, which shares the tries of the sign-in', async () => {
    await setUpTotp((await portal.enter('consultant')).profile)
    const profile = await proven()
    await post(profile, '/auth/second-factor/start', { factor: 'totp' })
    await post(profile, '/auth/second-factor', { input: { code: 'x' } })
    await post(profile, '/auth/second-factor/start', { factor: 'recovery_code' })
    const page = await post(profile, '/auth/second-factor', { input: { code: 'AAAA-AAAA-AAAA-AAAA' } })
    assert.deepEqual(left(page), { name: 'tries', value: 5, remaining: 3 })
  })

  test('of a text message, while it verifies a number and as a second factor', async () => {
    const { profile } = await portal.enter('consultant')
    await post(profile, '/me/factors/sms/start', { input: { number: '+4915112345678' } })
    await assertCounted(() => post(profile, '/me/factors/sms', { input: { code: 'x' } }))
    await post(profile, '/me/factors/sms/start', { input: { number: '+4915112345678' } })
    await post(profile, '/me/factors/sms', { input: { code: gateway.lastCode() } })
    const other = await proven()
    await post(other, '/auth/second-factor/start', { factor: 'sms' })
    await assertCounted(() => post(other, '/auth/second-factor', { input: { code: 'x' } }))
  })

  test('while a second factor is set up during the sign-in', async () => {
    const { email } = portal.newcomer()
    await portal.service.people.create({ name: 'Partner', email, role: 'partner' }, byService)
    const profile = await proven()
    await post(profile, '/auth/second-factor/enrol/start', { factor: 'totp' })
    await assertCounted(() => post(profile, '/auth/second-factor/enrol', { input: { code: '000000' } }))
  })

  test('of a mail, with the same responses for a known and an unknown address', async () => {
    const { email } = await portal.enter('consultant')
    const answers: string[][] = []
    for (const address of [email, 'stranger@nowhere.example']) {
      const profile = portal.profile()
      const { attempt } = (await post(profile, '/auth/start/email_link', { input: { email: address } })).json
      const pages: Page[] = []
      await assertCounted(async () => {
        const page = await post(profile, '/auth/complete', { attempt, input: { code: 'AAAA-AAAA' } })
        pages.push(page)
        return page
      })
      answers.push(pages.map(({ status, text }) => `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`))
    }
    assert.deepEqual(answers[0], answers[1])
  })
})

test('a wrong password says nothing of tries: it has other limits, and each submission is its own attempt', async () => {
  const profile = portal.profile()
  const { attempt } = (await post(profile, '/auth/start/password', {})).json
  const input = { email: 'stranger@nowhere.example', password: 'a wrong password' }
  const page = await post(profile, '/auth/complete', { attempt, input })
  assert.deepEqual([page.status, left(page)], [400, undefined])
})
