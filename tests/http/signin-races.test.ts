import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Queryable } from '../../src/platform/database/database.ts'
import { hashPassword } from '../../src/signin/methods/password/argon2.ts'
import { at } from '../support/json.ts'
import { startMailServer } from '../support/mail-server.ts'
import { addPasskey, forgetSteps, giveFactor, post, setUpTotp, signInWithPasskey } from '../support/own-account.ts'
import { startPortal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { totpCode } from '../support/totp.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'
import { fixture } from '../support/fixture.ts'

const right = 'blatant oyster wagon'

const hash = await hashPassword(right, { memory: 19_456, passes: 2 })
const mail = fixture(() => startMailServer())
const portal = fixture(() => startPortal({ mail: mail.url, signIn: { password: true, email_link: true } }))

const choosePassword = (database: Queryable, id: string) =>
  database.rows(
    `insert into password (person_id, hash, changed_at) values ($1, $2, $3)
     on conflict (person_id) do update set changed_at = $3`,
    [id, hash, new Date()],
  )

async function withPassword() {
  const person = await portal.enter('consultant')
  await choosePassword(portal.service.database, person.id)
  return person
}

async function enter(profile: Profile, email: string): Promise<Page> {
  const { attempt } = (await post(profile, '/auth/start/password')).json
  return post(profile, '/auth/complete', { attempt, input: { email, password: right } })
}

/** Sends a request that waits for the person's row. Before it goes on, makes a change to the person, which ends their sign-ins. */
async function overtake(
  id: string,
  send: () => Promise<Page>,
  change: (tx: Queryable) => Promise<unknown>,
  { service: { database } } = portal,
): Promise<Page> {
  const { promise } = await database.transaction(async (tx) => {
    await tx.rows('select 1 from person where id = $1 for no key update', [id])
    const sent = send()
    await until(async () => (await waitingForLocks(database)) > 0)
    await change(tx)
    await endSignIns(tx, id)
    return { promise: sent }
  })
  return promise
}

/** As every change to how a person signs in does. */
async function endSignIns(tx: Queryable, id: string): Promise<void> {
  await tx.rows('delete from session where person_id = $1', [id])
  await tx.rows(`delete from sign_in_attempt where person_id = $1 and step = 'proven'`, [id])
}

async function assertNobody(page: Page, profile: Profile, id: string, { service } = portal): Promise<void> {
  assert.deepEqual([page.status, at(page.json, 'error', 'code')], [400, 'sign_in_failed'], page.text)
  assert.deepEqual(page.headers.getSetCookie(), [])
  assert.equal(await profile.who(), undefined)
  assert.deepEqual((await profile.ask('/signin')).json['second_factors'], undefined)
  assert.deepEqual(await service.database.rows('select 1 from session where person_id = $1', [id]), [])
}

describe('B24, B32: a sign-in during which the role changes', () => {
  test('starts no session without the second factor of the new role', async () => {
    await using partners = await startPortal({ signIn: { second_factor: 'partners' } })
    const { id, email } = await partners.enter('consultant')
    const profile = partners.profile()
    const page = await overtake(
      id,
      () => profile.signIn('firm'),
      (tx) => tx.rows(`update person set role = 'partner' where id = $1`, [id]),
      partners,
    )
    await assertNobody(page, profile, id, partners)
    assert.equal((await profile.signIn('firm')).location, '/signin', `the factor of ${email} is due`)
  })
})

describe('B16: a sign-in during which its proof loses its person', () => {
  test('starts no session with an identity that was taken from them', async () => {
    const { id } = await portal.enter('consultant')
    const profile = portal.profile()
    const page = await overtake(
      id,
      () => profile.signIn('firm'),
      (tx) => tx.rows('delete from identity where person_id = $1', [id]),
    )
    await assertNobody(page, profile, id)
  })

  test('starts no session with an identity that became another person’s', async () => {
    const other = await portal.enter('consultant')
    const { id } = await portal.enter('consultant')
    const profile = portal.profile()
    const page = await overtake(
      id,
      () => profile.signIn('firm'),
      (tx) => tx.rows('update identity set person_id = $2 where person_id = $1', [id, other.id]),
    )
    await assertNobody(page, profile, id)
  })

  test('starts no session with an address that is no longer theirs', async () => {
    const { id, email } = await portal.enter('consultant')
    const profile = portal.profile()
    const { attempt } = (await post(profile, '/auth/start/email_link', { input: { email } })).json
    await until(() => mail.mails.some(({ to }) => to.includes(email)))
    const { text = '' } = mail.mails.findLast(({ to }) => to.includes(email)) ?? {}
    const code = /^([0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4})$/m.exec(text)?.[1]
    const page = await overtake(
      id,
      () => post(profile, '/auth/complete', { attempt, input: { code } }),
      (tx) => tx.rows(`update person set email = 'new-' || email, email_key = 'new-' || email_key where id = $1`, [id]),
    )
    await assertNobody(page, profile, id)
  })

  test('starts no session with a passkey that was removed', async () => {
    const { id, profile: own } = await portal.enter('consultant')
    const { authenticator } = await addPasskey(own, portal.service.baseUrl, 'My key')
    const profile = portal.profile()
    const page = await overtake(
      id,
      () => signInWithPasskey(profile, authenticator),
      (tx) => tx.rows('delete from passkey where person_id = $1', [id]),
    )
    await assertNobody(page, profile, id)
  })
})

describe('B33: a sign-in that a change overtakes', () => {
  test('starts no session with a password that was changed', async () => {
    const { id, email } = await withPassword()
    const profile = portal.profile()
    const page = await overtake(
      id,
      () => enter(profile, email),
      (tx) => choosePassword(tx, id),
    )
    await assertNobody(page, profile, id)
    assert.equal((await enter(profile, email)).status, 200, 'the present password signs in')
  })

  test('waits for no second factor with a password that was changed', async () => {
    const { id, email, profile: own } = await withPassword()
    await setUpTotp(own)
    const profile = portal.profile()
    const page = await overtake(
      id,
      () => enter(profile, email),
      (tx) => choosePassword(tx, id),
    )
    await assertNobody(page, profile, id)
  })

  test('B26: starts no session without the second factor that was set up', async () => {
    const { id, email } = await withPassword()
    const profile = portal.profile()
    const page = await overtake(
      id,
      () => enter(profile, email),
      (tx) =>
        tx.rows(`insert into totp (person_id, secret, last_step, created_at) values ($1, '\\x00', 0, now())`, [id]),
    )
    await assertNobody(page, profile, id)
    const { status, json } = await enter(profile, email)
    assert.deepEqual([status, json], [200, { location: '/signin' }], 'now the factor is due')
  })

  test('starts no session although its second factor was right', async () => {
    const { id, email, profile: own } = await withPassword()
    const { secret } = await setUpTotp(own)
    await forgetSteps(portal.service.database)
    const profile = portal.profile()
    assert.deepEqual((await enter(profile, email)).json, { location: '/signin' })
    const page = await overtake(
      id,
      () => giveFactor(profile, 'totp', { code: totpCode(secret) }),
      async () => undefined,
    )
    await assertNobody(page, profile, id)
  })

  test('a password that is chosen while the person is deleted is not kept', async () => {
    const { id, profile } = await portal.enter('consultant')
    const page = await overtake(
      id,
      () => post(profile, '/me/password', { password: 'mellow trumpet canyon' }),
      (tx) =>
        tx.rows(
          `update person set status = 'disabled', email = null, email_key = null, deleted_at = now() where id = $1`,
          [id],
        ),
    )
    assert.equal(page.status, 409, page.text)
    assert.deepEqual(await portal.service.database.rows('select 1 from password where person_id = $1', [id]), [])
  })
})
