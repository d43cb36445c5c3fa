import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { byService } from '../access/actor.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { createAudit, type Audit } from '../access/audit.ts'
import { createIdentities } from '../people/identities.ts'
import { createPeople } from '../people/people.ts'
import { openDatabase, type Database } from '../platform/database/database.ts'
import { createAttempts } from './attempts.ts'
import { createSignInLimits } from './limits.ts'
import type { Method, Proof } from './methods/method.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { createSignUp } from './sign-up.ts'
import { createSignIn, type SignIn } from './signin.ts'

const { log } = createTestLog()
const baseUrl = 'https://tollgate.test'
let fresh: TestDatabase
let database: Database
let audit: Audit
let sessions: Sessions

before(async () => {
  fresh = await createTestDatabase()
  database = openDatabase(fresh.url, { log })
  audit = createAudit({ database })
  sessions = createSessions({ database, audit, log, lifetimes: { idle: 3_600_000, absolute: 43_200_000 } })
  const people = createPeople({ database, audit })
  for (const role of ['consultant', 'partner'] as const) {
    await people.create({ name: role, email: `${role}@example.com`, role }, byService)
  }
})
after(async () => {
  await sessions.close()
  await audit.close()
  await database.close()
  await fresh.drop()
})

type SecondFactor = Parameters<typeof createSignIn>[0]['secondFactor']

/** The gate with one method, which shows what it is told to. */
function openGate(secondFactor: SecondFactor, shown: { role: string; factors?: readonly string[] }): SignIn {
  const address = `${shown.role}@example.com`
  const proof: Proof = {
    method: 'firm',
    factors: shown.factors ?? ['provider'],
    issuer: 'https://id.example',
    subject: shown.role,
    sid: undefined,
    email: { address, key: address, domain: 'example.com' },
  }
  const method: Method = {
    id: 'firm',
    name: 'Firm',
    begin: async ({ state }) => new URL(`https://id.example/?state=${state}`),
    complete: async () => proof,
    signOutAddress: () => undefined,
    readLogout: () => assert.fail('nobody signs out'),
    check: async () => 'ready',
    state: 'ready',
    fault: undefined,
  }
  return createSignIn({
    methods: [method],
    attempts: createAttempts({ database, baseUrl, clock: Date.now }),
    limits: createSignInLimits({ perMinute: 60 }),
    signUp: createSignUp({
      policy: { policy: 'invited', domains: [] },
      identities: createIdentities({ database, audit }),
    }),
    sessions,
    secondFactor,
    audit,
  })
}

/** A whole sign-in; the Set-Cookie text. */
async function enter(gate: SignIn): Promise<string | undefined> {
  const nobody = { device: '', network: '', address: '127.0.0.1', requestId: 'r', cookies: undefined }
  const { location, cookie } = await gate.begin('firm', nobody, '/')
  const callback = new URL(`${baseUrl}/auth/callback?${location.searchParams.toString()}`)
  return (await gate.complete(callback, { ...nobody, cookies: cookie.split(';')[0] })).cookie
}

describe('B26: before a session begins', () => {
  const cases: [SecondFactor, string, readonly string[], boolean][] = [
    ['off', 'partner', ['provider'], true],
    ['optional', 'partner', ['provider'], true],
    ['partners', 'consultant', ['provider'], true],
    ['partners', 'partner', ['provider'], false],
    ['required', 'consultant', ['provider'], false],
    ['required', 'partner', ['provider'], false],
    ['required', 'partner', ['provider', 'totp'], true],
  ]
  for (const [policy, role, factors, isIn] of cases) {
    test(`under ${policy}, a ${role} with ${factors.join(' and ')} ${isIn ? 'is in' : 'owes a factor'}`, async () => {
      await database.rows('delete from session')
      const entering = enter(openGate(policy, { role, factors }))
      if (isIn) {
        assert.match((await entering) ?? '', /^session=/)
      } else {
        await assert.rejects(entering, { code: 'sign_in_refused' })
        const [entry] = await database.rows('select action, outcome from audit order by at desc, id desc limit 1')
        assert.deepEqual(entry, { action: 'sign_in_failed', outcome: 'refused' })
      }
      const rows = await database.rows('select method, factors from session')
      assert.deepEqual(rows, isIn ? [{ method: 'firm', factors }] : [])
    })
  }
})
