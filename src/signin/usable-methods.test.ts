import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService } from '../access/actor.ts'
import { createAudit } from '../access/audit/audit.ts'
import { createIdentities } from '../people/identities.ts'
import { createPeople } from '../people/people.ts'
import { createTestCredentials } from '../../tests/support/credentials.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { log } from '../../tests/support/tills.ts'
import type { RedirectMethod } from './methods/method.ts'
import { createUsableMethods } from './usable-methods.ts'

const { database } = openOwnDatabase(log)

const issuer = 'https://login.example'
const provider: RedirectMethod = {
  kind: 'redirect',
  id: 'firm',
  name: 'Firm account',
  issuer,
  state: 'ready',
  fault: undefined,
  check: async () => 'ready',
  begin: () => Promise.reject(new Error('not used')),
  complete: () => Promise.reject(new Error('not used')),
  signOutAddress: () => undefined,
  readLogout: () => Promise.reject(new Error('not used')),
}

async function open() {
  const audit = createAudit({ database })
  const identities = createIdentities({ database, audit })
  const credentials = createTestCredentials()
  const methods = [provider, ...credentials.methods]
  const usable = createUsableMethods({ methods, identities, database })
  const email = `${crypto.randomUUID()}@firm.example`
  const person = await createPeople({ database, audit }).create({ name: 'P', email, role: 'consultant' }, byService)
  return {
    usable,
    credentials,
    identities,
    person,
    requireOne: () => database.transaction((tx) => usable.requireOne(tx, person)),
  }
}

describe('the usable methods of a person', () => {
  test('are the providers at which they have an identity, and the methods that say so', async () => {
    const { usable, credentials, identities, person } = await open()
    const ids = async () => (await usable.of(person)).map(({ id }) => id)
    assert.deepEqual(await ids(), ['code'])
    await identities.identify(person.id, { issuer: 'https://other.example', subject: person.id })
    assert.deepEqual(await ids(), ['code'], 'the identity is at another provider')
    await identities.identify(person.id, { issuer, subject: person.id })
    assert.deepEqual(await ids(), ['firm', 'code'])
    credentials.isUsable = false
    assert.deepEqual(await ids(), ['firm'])
  })

  test('one must be left', async () => {
    const { credentials, identities, person, requireOne } = await open()
    await requireOne()
    credentials.isUsable = false
    await assert.rejects(requireOne(), { code: 'conflict' })
    await identities.identify(person.id, { issuer, subject: person.id })
    await requireOne()
  })
})
