import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { byService, type Role } from '../../src/access/actor.ts'
import { createAudit } from '../../src/access/audit/audit.ts'
import { createInvitations } from '../../src/people/invitations/invitations.ts'
import { isEndure } from '../support/draws.ts'
import { startMailServer } from '../support/mail-server.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { challengeOf, post } from '../support/own-account.ts'
import { startPortal, type Portal } from '../support/portal.ts'
import type { Profile } from '../support/profile.ts'
import { totpCode } from '../support/totp.ts'
import { until } from '../support/until.ts'

const signUpPolicies = ['anyone', 'invited', 'domain'] as const
/** With `optional`, nobody who comes for the first time has a factor that is due, as with `off`. */
const factorPolicies = ['off', 'partners', 'required'] as const
const methods = ['an invitation', 'an email link', 'a password', 'a provider'] as const
type Method = (typeof methods)[number]

const password = 'blatant oyster wagon'

/** Someone who comes for the first time. Partners are always invited. */
interface Newcomer {
  readonly email: string
  readonly role: Role
  readonly method: Method
  readonly profile: Profile
  readonly network: Readonly<Record<string, string>>
  /** Of the invitation, or of the mail. */
  token: string | undefined
}

const mail = fixture(() => startMailServer())

for (const [index, policy] of signUpPolicies.entries()) {
  // Each policy of one kind with one of the other; all pairs only in `endure`.
  for (const factor of isEndure ? factorPolicies : factorPolicies.slice(index, index + 1)) {
    describe(`B64, B72: a first sign-in with the sign-up policy "${policy}" and the second factor "${factor}"`, () => {
      let portal: Portal
      const newcomers: Newcomer[] = []

      setUp(async () => {
        const domains = policy === 'domain' ? { domains: ['firm.example'] } : {}
        portal = await startPortal({
          mail: mail.url,
          trustedProxies: ['127.0.0.1'],
          signIn: { second_factor: factor, email_link: true, password: true, sign_up: { policy, ...domains } },
        })
        for (const method of methods) {
          for (const role of ['consultant', 'partner'] as const) newcomers.push(await announce(method, role))
        }
        await Promise.all(newcomers.map(readMail))
      })
      after(() => portal.close())

      /** Invites the person where the policy or the role needs it, and asks for the mail of the method. */
      async function announce(method: Method, role: Role): Promise<Newcomer> {
        const email = `${policy}-${factor}-${newcomers.length}@firm.example`
        const network = { 'x-forwarded-for': `203.0.113.${newcomers.length}` }
        const person: Newcomer = { email, role, method, profile: portal.profile(), network, token: undefined }
        if (role === 'partner' || policy === 'invited' || method === 'an invitation') {
          const { database, baseUrl } = portal.service
          const needs = { database, audit: createAudit({ database }), mailer: undefined, baseUrl }
          const rules = { policy: 'anyone', domains: [] as string[] } as const
          const invitations = createInvitations({ ...needs, policy: rules })
          const { link } = await invitations.create({ name: 'New', email, role }, byService)
          if (method === 'an invitation') person.token = link?.split('#')[1]
        }
        const ask = (path: string, body: object) => person.profile.ask(path, { method: 'POST', body, headers: network })
        if (method === 'an email link') await ask('/auth/start/email_link', { input: { email } })
        if (method === 'a password') await ask('/auth/reset/request', { email })
        return person
      }

      async function readMail(person: Newcomer): Promise<void> {
        if (person.method !== 'an email link' && person.method !== 'a password') return
        const isTheirs = ({ to }: { readonly to: readonly string[] }) => to.includes(person.email)
        await until(() => mail.mails.some(isTheirs))
        person.token = /#([\w-]{43})$/m.exec(mail.mails.find(isTheirs)?.text ?? '')?.[1]
      }

      async function prove({ method, email, profile, token }: Newcomer): Promise<void> {
        if (method === 'an invitation') await post(profile, '/auth/invitation', { token })
        else if (method === 'an email link') await post(profile, '/auth/link', { token, confirmed: true })
        else if (method === 'a password') {
          assert.equal((await post(profile, '/auth/reset', { token, password })).status, 200)
          const { attempt } = (await post(profile, '/auth/start/password')).json
          await post(profile, '/auth/complete', { attempt, input: { email, password } })
        } else {
          portal.provider.say({ subject: email, email })
          await profile.signIn('firm')
        }
      }

      const sessionsOf = async (email: string) =>
        portal.service.database.rows('select from session s join person p on p.id = s.person_id where email_key = $1', [
          email,
        ])

      for (const [group, method] of methods.entries()) {
        for (const [place, role] of (['consultant', 'partner'] as const).entries()) {
          const isDue = factor === 'required' || (factor === 'partners' && role === 'partner')
          test(`of a ${role} with ${method} ${isDue ? 'waits for a second factor' : 'needs no more'}`, async () => {
            const person = newcomers[group * 2 + place] ?? assert.fail()
            await prove(person)
            const { profile, email } = person
            if (isDue) {
              assert.equal(await profile.who(), undefined)
              assert.deepEqual(await sessionsOf(email), [])
              const begun = await post(profile, '/auth/second-factor/enrol/start', { factor: 'totp' })
              assert.equal(begun.status, 200, begun.text)
              assert.deepEqual(await sessionsOf(email), [])
              const code = totpCode(challengeOf(begun)['secret'])
              assert.equal((await post(profile, '/auth/second-factor/enrol', { input: { code } })).status, 200)
            }
            const who = await profile.who()
            assert.deepEqual([who?.['email'], who?.['role']], [email, role])
            assert.equal((await sessionsOf(email)).length, 1)
          })
        }
      }
    })
  }
}
