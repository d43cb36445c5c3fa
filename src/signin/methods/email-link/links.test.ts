import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService } from '../../../access/actor.ts'
import { createAudit } from '../../../access/audit/audit.ts'
import { createPeople } from '../../../people/people.ts'
import { type Database, type Queryable } from '../../../platform/database/database.ts'
import { createEncryption } from '../../../platform/encryption/encryption.ts'
import { openOwnDatabase } from '../../../../tests/support/own-database.ts'
import { newSecret } from '../../session/cookies.ts'
import { createKnownNetworks } from '../../visitor/known-networks.ts'
import { createThrottle } from '../../throttle/throttle.ts'
import { createEmailLinkMethod } from './links.ts'
import { isCode, newCode } from './code.ts'

const { database } = openOwnDatabase()

/** A method that notes the texts of its statements, and each mail as one. */
function createObserved() {
  const statements: string[] = []
  const observe = (inner: Queryable): Queryable => ({
    rows: (query, values) => {
      statements.push(typeof query === 'string' ? query : query.text)
      return inner.rows(query, values)
    },
  })
  const observed: Database = {
    ...database,
    ...observe(database),
    transaction: (work) => database.transaction((tx) => work(observe(tx))),
  }
  const method = createEmailLinkMethod({
    database: observed,
    throttle: createThrottle({ database: observed }),
    known: createKnownNetworks({ database: observed }),
    attempts: { browsersOf: () => [] },
    encryption: createEncryption(Buffer.alloc(32, 7)),
    mailer: { send: async (_tx, { template, onlyFor }) => void statements.push(`mail ${template} ${onlyFor}`) },
  })
  return { method, statements }
}

const visitor = { cookies: undefined, device: 'Firefox on Linux', network: '192.0.2.0/24', requestId: 'r' }

describe('asking for a sign-in link', () => {
  test('B45: does the same work for a known, a disabled, an unknown and a foreign address', async () => {
    const people = createPeople({ database, audit: createAudit({ database }) })
    const known = await people.create({ name: 'Anna', email: 'anna@firm.example', role: 'consultant' }, byService)
    const disabled = await people.create({ name: 'Ben', email: 'ben@firm.example', role: 'consultant' }, byService)
    await people.setStatus(disabled.id, 'disabled', byService)
    const addresses = [known.email, disabled.email, 'nobody@firm.example', 'nobody@elsewhere.example']
    const work: string[][] = []
    for (const [index, email] of addresses.entries()) {
      const { method, statements } = createObserved()
      const begun = await method.begin({ email }, { ...visitor, address: `192.0.2.${index}` }, newSecret())
      assert.deepEqual(begun.challenge, {})
      work.push(statements)
    }
    assert.equal(work[0]?.length, 9)
    for (const statements of work) assert.deepEqual(statements, work[0])
    for (const statement of work.flat()) assert.doesNotMatch(statement, /\bperson\b|\bidentity\b/)
  })
})

describe('a code', () => {
  test('has 40 random bits in an alphabet without signs that look alike', () => {
    const codes = new Set(Array.from({ length: 1000 }, newCode))
    assert.equal(codes.size, 1000)
    for (const code of codes) assert.match(code, /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
    assert.equal(new Set([...codes].join('')).size, 33)
  })

  test('is right however people type it, and wrong if a sign is missing', () => {
    for (const typed of ['10AB-CD0Z', ' ioabcdoz ', 'l0 ab cd 0z']) assert.ok(isCode(typed, '10AB-CD0Z'), typed)
    for (const typed of ['', '10ABCD0', '10ABCD0ZZ', '10AB-CD0Y', '\0']) assert.ok(!isCode(typed, '10AB-CD0Z'), typed)
  })
})
