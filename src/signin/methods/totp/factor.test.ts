import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService } from '../../../access/actor.ts'
import { createAudit } from '../../../access/audit/audit.ts'
import { createIdentities } from '../../../people/identities.ts'
import { createPeople } from '../../../people/people.ts'
import { createEncryption } from '../../../platform/encryption/encryption.ts'
import { setUp } from '../../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../../tests/support/own-database.ts'
import { totpCode } from '../../../../tests/support/totp.ts'
import type { SecondFactor } from '../method.ts'
import { createThrottle } from '../../throttle/throttle.ts'
import { createGuesses } from '../../throttle/code-guesses.ts'
import { createTotpFactor } from './factor.ts'

const visitor = {
  cookies: undefined,
  device: 'A test',
  network: '192.0.2.0/24',
  address: '192.0.2.1',
  requestId: 'one',
}
const noon = Date.parse('2026-03-12T12:00:00Z')
let now = noon
const clock = () => now

let people: ReturnType<typeof createPeople>
let factor: SecondFactor

const { database } = openOwnDatabase()
setUp(() => {
  const audit = createAudit({ database })
  people = createPeople({ database, audit })
  const throttle = createThrottle({ database, clock })
  const guesses = createGuesses({ throttle, database, audit, identities: createIdentities({ database, audit }) })
  factor = createTotpFactor({ database, encryption: createEncryption(Buffer.alloc(32, 7)), guesses, clock })
})

const wrong = { code: 'sign_in_failed' }
let made = 0

async function begin() {
  made++
  const email = `person${made}@example.com`
  const person = await people.create({ name: `Person ${made}`, email, role: 'consultant' }, byService)
  const enrol = factor.enrol ?? assert.fail('people set it up themselves')
  const { data, challenge } = await enrol.begin(person, {}, visitor)
  const { secret } = challenge
  const complete = (personId: string) =>
    database.transaction((tx) => enrol.complete(tx, { code: totpCode(secret, 0, now) }, { personId, data, name: '' }))
  return { personId: person.id, secret, complete }
}

/** A person with an authenticator app whose codes are unused. */
async function enrolled() {
  const { personId, secret, complete } = await begin()
  await complete(personId)
  await database.rows('update totp set last_step = 0 where person_id = $1', [personId])
  return { personId, secret }
}

const give = (personId: string, code: string) => factor.complete({ code }, { personId, data: {}, visitor })

describe('B65: a code of an authenticator app', () => {
  for (const [when, elapsed] of [
    ['first', 0],
    ['last', 29_999],
  ] as const) {
    test(`is accepted one step before and after its own, and no further, in the ${when} millisecond of a step`, async () => {
      now = noon + elapsed
      const { personId, secret } = await enrolled()
      for (const steps of [-2, 2]) await assert.rejects(give(personId, totpCode(secret, steps, now)), wrong)
      for (const steps of [-1, 0, 1]) await give(personId, totpCode(secret, steps, now))
    })
  }
})

describe('B66: the secret of an authenticator app', () => {
  test('is good only in the row of its person', async () => {
    now = noon
    const [one, other] = [await enrolled(), await enrolled()]
    const copied = 'update totp set secret = (select secret from totp where person_id = $1) where person_id = $2'
    await database.rows(copied, [one.personId, other.personId])
    await assert.rejects(give(other.personId, totpCode(one.secret, 0, now)), wrong)
    await give(one.personId, totpCode(one.secret, 0, now))
  })

  test('is set up by its person alone', async () => {
    now = noon
    const [one, other] = [await begin(), await begin()]
    await assert.rejects(one.complete(other.personId), wrong)
    await one.complete(one.personId)
  })
})
