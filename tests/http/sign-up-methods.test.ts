import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { createInvitations } from '../../src/people/invitations/invitations.ts'
import { createAudit } from '../../src/access/audit/audit.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { startMailServer } from '../support/mail-server.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { signInWithPasskey } from '../support/own-account.ts'
import { startPortal, type Portal } from '../support/portal.ts'
import type { Page, Profile } from '../support/profile.ts'
import { until } from '../support/until.ts'

type Policy = 'anyone' | 'invited' | 'domain'
const policies: readonly Policy[] = ['anyone', 'invited', 'domain']

/** Who comes: whether the firm's domain is in the address, and what the firm knows of it. */
const visitors = {
  'a stranger of the firm’s domain': { domain: 'firm.example', known: 'no' },
  'a stranger from elsewhere': { domain: 'elsewhere.example', known: 'no' },
  'someone invited of the firm’s domain': { domain: 'firm.example', known: 'invited' },
  'someone entered from elsewhere': { domain: 'elsewhere.example', known: 'entered' },
  'someone disabled of the firm’s domain': { domain: 'firm.example', known: 'disabled' },
} as const
type Visitor = (typeof visitors)[keyof typeof visitors]

function isAdmitted(policy: Policy, { domain, known }: Visitor): boolean {
  if (known === 'disabled' || (policy === 'domain' && domain !== 'firm.example')) return false
  return policy !== 'invited' || known !== 'no'
}

const link = /#([\w-]{43})$/m
const password = 'a long sentence that nobody guesses'

for (const policy of policies) {
  describe(`B72: with the sign-up policy "${policy}"`, () => {
    let portal: Portal
    let count = 0

    const mail = fixture(() => startMailServer())
    setUp(async () => {
      const domains = policy === 'domain' ? { domains: ['firm.example'] } : {}
      const signIn = { email_link: true, password: true, sign_up: { policy, ...domains } }
      portal = await startPortal({ mail: mail.url, signIn, trustedProxies: ['127.0.0.1'] })
    })
    after(() => portal.close())

    async function prepare({ domain, known }: Visitor): Promise<string> {
      count++
      const email = `visitor${count}@${domain}`
      const person = { name: 'Known', email, role: 'consultant' } as const
      const { people, database, baseUrl } = portal.service
      if (known === 'invited') {
        const audit = createAudit({ database })
        const rules = { policy: 'anyone', domains: [] } as const
        await createInvitations({
          database,
          audit,
          mailer: undefined,
          policy: { ...rules, domains: [] },
          baseUrl,
        }).create(person, byService)
      }
      if (known === 'entered' || known === 'disabled') {
        const { id } = await people.create(person, byService)
        if (known === 'disabled') await people.setStatus(id, 'disabled', byService)
      }
      return email
    }

    const post = (profile: Profile, address: string, body: object) =>
      profile.ask(address, { method: 'POST', body, headers: { 'x-forwarded-for': `203.0.113.${count}` } })

    /** The token of the mail to an address; undefined if the queue is empty and there was none. */
    async function tokenFor(email: string, asked: Page): Promise<string | undefined> {
      assert.equal(asked.status, 200, asked.text)
      await until(async () => {
        const { database } = portal.service
        const waiting = await database.rows(`select from pgboss.job where name = 'mail' and state < 'completed'`)
        return waiting.length === 0
      })
      const received = mail.mails.find(({ to }) => to.includes(email))
      return received && link.exec(received.text)?.[1]
    }

    /** How each method lets someone in who owns the address. */
    const methods: Record<string, (profile: Profile, email: string) => Promise<unknown>> = {
      'an email link': async (profile, email) => {
        const token = await tokenFor(email, await post(profile, '/auth/start/email_link', { input: { email } }))
        if (token !== undefined) await post(profile, '/auth/link', { token, confirmed: true })
      },
      'a password': async (profile, email) => {
        const token = await tokenFor(email, await post(profile, '/auth/reset/request', { email }))
        if (token !== undefined) await post(profile, '/auth/reset', { token, password })
        const begun = await post(profile, '/auth/start/password', { input: { email } })
        await post(profile, '/auth/complete', { attempt: begun.json['attempt'], input: { email, password } })
      },
      'a provider that verifies the address': async (profile, email) => {
        portal.provider.say({ subject: `verified ${email}`, email })
        await profile.signIn('firm')
      },
      'a passkey that nobody has registered': async (profile) => {
        await signInWithPasskey(profile, createAuthenticator(portal.service.baseUrl))
      },
      'a provider that does not verify the address': async (profile, email) => {
        portal.provider.say({ subject: `unverified ${email}`, email })
        portal.provider.lies.claims = { email_verified: false }
        await profile.signIn('firm')
        portal.provider.lies.claims = {}
      },
    }

    for (const [method, signIn] of Object.entries(methods)) {
      for (const [name, visitor] of Object.entries(visitors)) {
        const admitted = isAdmitted(policy, visitor) && !/not verify|nobody/.test(method)
        test(`${name} is ${admitted ? 'admitted' : 'refused'} with ${method}`, async () => {
          const email = await prepare(visitor)
          const profile = portal.profile()
          await signIn(profile, email)
          const who = await profile.who()
          assert.equal(who?.['email'], admitted ? email : undefined)
          if (admitted) assert.equal(who?.['role'], 'consultant')
          const rows = await portal.service.database.rows('select from person where email_key = $1', [email])
          assert.equal(rows.length, admitted || ['entered', 'disabled'].includes(visitor.known) ? 1 : 0)
        })
      }
    }
  })
}
