import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService, type Role } from '../../src/access/actor.ts'
import { at } from '../support/json.ts'
import { startMailServer } from '../support/mail-server.ts'
import { fixture } from '../support/fixture.ts'
import { post } from '../support/own-account.ts'
import { startPortal, type Portal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { until } from '../support/until.ts'

const right = 'blatant oyster wagon'
const firm = { name: 'Penhallow & Partners' }
const signIn = { password: true, second_factor: 'partners', sign_up: { policy: 'invited' } }

const mail = fixture(() => startMailServer())
const portal = fixture(() => startPortal({ mail: mail.url, firm, signIn: { ...signIn, providers: [] } }))
const partner = fixture(() => signedInPartner(portal))

async function signedInPartner({ service, profile: newProfile }: Portal): Promise<Profile> {
  const person = { name: 'Paula', email: 'paula@firm.example', role: 'partner' } as const
  const profile = newProfile()
  const cookie = await service.signIn(await service.people.create(person, byService))
  profile.cookies().set('session', cookie.slice('session='.length))
  return profile
}

let invited = 0
/** Invites a new address; the token that is mailed to it. */
async function invite(role: Role = 'consultant', by = partner): Promise<{ email: string; token: string }> {
  invited++
  const email = `ines${invited}@firm.example`
  const page = await post(by, '/people/invitations', { email, name: 'Ines', role })
  assert.equal(page.status, 201, page.text)
  const mailed = () => mail.mails.find(({ to }) => to.includes(email))
  await until(() => mailed() !== undefined)
  return { email, token: /\/signin\/invitation#([\w-]{43})$/m.exec(mailed()?.text ?? '')?.[1] ?? assert.fail() }
}

const accept = (profile: Profile, token: string, password?: string) =>
  post(profile, '/auth/invitation', { token, ...(password !== undefined && { password }) })
const inspect = async (token: string, there = portal) =>
  (await post(there.profile(), '/auth/invitation/inspect', { token })).json['password']

async function enter(email: string, password: string): Promise<Page> {
  const profile = portal.profile()
  const { attempt } = (await post(profile, '/auth/start/password')).json
  return post(profile, '/auth/complete', { attempt, input: { email, password } })
}

const fault = (page: Page) => [page.status, at(page.json, 'error', 'code'), at(page.json, 'error', 'field')]

describe('an invitation where people sign in with passwords', () => {
  test('lets the person choose one, signs them in, and the password works the next time', async () => {
    const { email, token } = await invite()
    assert.deepEqual(await inspect(token), { minimum_length: 15, only_way: true })
    const profile = portal.profile()
    const page = await accept(profile, token, right)
    assert.deepEqual([page.status, page.json], [200, { location: '/' }], page.text)
    const id = (await profile.who())?.['id']
    assert.equal(at((await profile.ask('/me')).json, 'methods', 0, 'id'), 'password')
    const rows = await portal.service.database.rows(
      `select action, person_id from audit where noun_id = $1 and action like 'password%'`,
      [id],
    )
    assert.deepEqual(rows, [{ action: 'password_set', person_id: id }])
    assert.equal((await enter(email, `${right}!`)).status, 400)
    assert.deepEqual((await enter(email, right)).json, { location: '/' })
    assert.ok(!portal.service.logText().includes(right))
  })

  test('stays open after a password that is too short or easy to guess, and creates nobody', async () => {
    const { email, token } = await invite()
    const profile = portal.profile()
    const had = await portal.counts()
    const weak = ['', 'short', 'passwordpassword', 'Penhallow Partners 1', `${email}!`, 'tollgate tollgate']
    for (const password of weak) {
      const page = await accept(profile, token, password)
      assert.deepEqual(fault(page), [400, 'invalid_field', 'password'], page.text)
      assert.deepEqual(page.headers.getSetCookie(), [])
      assert.deepEqual(await portal.counts(), had)
    }
    assert.equal((await accept(profile, token, right)).status, 200)
  })

  test('still needs the second factor that the role requires, and takes a shorter password for it', async () => {
    const { token } = await invite('partner')
    assert.deepEqual(await inspect(token), { minimum_length: 8, only_way: true })
    const profile = portal.profile()
    const had = await portal.counts()
    const page = await accept(profile, token, 'kx7mv2qp')
    assert.deepEqual([page.status, page.json], [200, { location: '/signin' }], page.text)
    assert.equal((await portal.counts()).session, had.session)
    assert.equal(await profile.who(), undefined)
    const { enrol } = (await profile.ask('/signin')).json
    assert.deepEqual(at(enrol, 0, 'id'), 'passkey')
  })

  test('stores the password of the request that accepted it, of ten at once', async () => {
    const { email, token } = await invite()
    const choices = Array.from({ length: 10 }, (_, n) => `${right} number ${n}`)
    const pages = await Promise.all(choices.map((password) => accept(portal.profile(), token, password)))
    const accepted = choices.filter((_, n) => pages[n]?.status === 200)
    assert.equal(accepted.length, 1)
    const [other] = choices.filter((password) => !accepted.includes(password))
    assert.equal((await enter(email, other ?? '')).status, 400)
    assert.equal((await enter(email, accepted[0] ?? '')).status, 200)
  })

  test('need not be accepted with one', async () => {
    const { token } = await invite()
    const profile = portal.profile()
    assert.equal((await accept(profile, token)).status, 200)
    assert.deepEqual((await profile.ask('/me')).json['methods'], [])
  })

  test('is used up by a password that is chosen after it was accepted', async () => {
    const { email, token } = await invite()
    const profile = portal.profile()
    assert.equal((await accept(profile, token)).status, 200)
    const id = String((await profile.who())?.['id'])
    assert.equal((await post(profile, '/me/password', { password: right })).status, 200)
    assert.equal((await partner.ask(`/people/${id}/sessions`, { method: 'DELETE' })).status, 200)
    const again = portal.profile()
    assert.deepEqual(fault(await accept(again, token)), [400, 'sign_in_failed', undefined])
    assert.equal(await again.who(), undefined)
    assert.equal((await enter(email, right)).status, 200)
  })

  test('tells whether there are other ways, and refuses a password where there are none', async () => {
    for (const [methods, offered] of [
      [{ password: true }, { minimum_length: 15, only_way: false }],
      [{ password: false }, undefined],
    ] as const) {
      await using own = await startPortal({ mail: mail.url, signIn: { ...signIn, second_factor: 'off', ...methods } })
      const { token } = await invite('consultant', await signedInPartner(own))
      assert.deepEqual(await inspect(token, own), offered)
      const page = await accept(own.profile(), token, right)
      if (offered) assert.equal(page.status, 200)
      else assert.deepEqual(fault(page), [400, 'invalid_field', 'password'])
    }
  })
})
