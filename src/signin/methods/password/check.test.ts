import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { byService } from '../../../access/actor.ts'
import { createAudit } from '../../../access/audit/audit.ts'
import type { MailMessage } from '../../../mail/mailer.ts'
import { readEmail } from '../../../people/email.ts'
import { createPeople } from '../../../people/people.ts'
import { type Database, type Queryable } from '../../../platform/database/database.ts'
import { Problem } from '../../../platform/problems.ts'
import { openOwnDatabase } from '../../../../tests/support/own-database.ts'
import { createKnownNetworks } from '../../visitor/known-networks.ts'
import { createThrottle } from '../../throttle/throttle.ts'
import type { Visitor } from '../../visitor/visitor.ts'
import { createPasswordCheck, type CheckPassword } from './check.ts'
import { createGuesses } from './guesses.ts'
import { createHashing, type Hashing } from './hashing.ts'
import { readPasswordOwnerById, writePassword } from './store.ts'

const [second, minute] = [1000, 60_000]
const right = 'blatant oyster wagon'
/** Cheap, because these tests make hundreds of hashes. */
const settings = { memory: 64, passes: 1 }

let now = Date.UTC(2026, 2, 12)
let check: CheckPassword
/** How many hashes were computed, and how many at most at the same time. */
let hashed = { verified: 0, made: 0, running: 0, most: 0 }
let queued: MailMessage[] = []

async function counted<T>(kind: 'verified' | 'made', work: () => Promise<T>): Promise<T> {
  hashed[kind]++
  hashed.running++
  hashed.most = Math.max(hashed.most, hashed.running)
  return work().finally(() => hashed.running--)
}

/** Real hashing, counted. */
function counting({ inTurn }: Hashing): Hashing {
  return {
    inTurn: (work) =>
      inTurn((turn) =>
        work({
          ...turn,
          verify: (password, phc) => counted('verified', () => turn.verify(password, phc)),
          hash: (password) => counted('made', () => turn.hash(password)),
        }),
      ),
  }
}

const clock = () => now
const networks = () => createKnownNetworks({ database, clock })
const openGuesses = () => createGuesses({ throttle: createThrottle({ database, clock }), known: networks(), clock })

function openCheck(
  hash = settings,
  guesses = openGuesses(),
  hashing = createHashing({ settings: hash }),
): CheckPassword {
  const audit = createAudit({ database })
  const mailer = { send: async (_tx: unknown, mail: MailMessage) => void queued.push(mail) }
  return createPasswordCheck({ database, audit, mailer, guesses, hashing: counting(hashing) })
}

const { database } = openOwnDatabase()
beforeEach(async () => {
  await database.rows('truncate throttle')
  hashed = { verified: 0, made: 0, running: 0, most: 0 }
  queued = []
  check = openCheck()
})

let made = 0
async function makePerson(password: string | undefined = right) {
  made++
  const email = `person${made}@example.com`
  const people = createPeople({ database, audit: createAudit({ database }) })
  const { id } = await people.create({ name: `Person ${made}`, email, role: 'consultant' }, byService)
  if (password !== undefined) {
    const hash = await createHashing({ settings }).inTurn((turn) => turn.hash(password))
    await writePassword(database, { personId: id, hash, at: new Date() })
  }
  return { id, email }
}

const visitorAt = (address: string): Visitor => ({
  cookies: undefined,
  device: '',
  network: '192.0.2.0/24',
  address,
  requestId: '01990000-0000-7000-8000-00000000000a',
})

/** The person's id, or the code and the wait of the refusal. */
async function guess(email: string, password: string, sender = '192.0.2.7'): Promise<unknown> {
  const address = readEmail(email) ?? assert.fail()
  return check({ email: address, password }, visitorAt(sender)).then(
    ({ id }) => id,
    (error: unknown) => {
      if (!(error instanceof Problem)) throw error
      const { retryAfter } = error.details
      return retryAfter === undefined ? error.code : [error.code, retryAfter]
    },
  )
}

describe('B52: an unknown address', () => {
  test('costs the same as a wrong password each time: one verification, the same statements, the same reply', async () => {
    const [known, without] = [await makePerson(), await makePerson(undefined)]
    const work: unknown[][] = []
    for (const email of [known.email, without.email, 'nobody@example.com']) {
      let statements: string[] = []
      const watch =
        (to: Queryable): Database['rows'] =>
        (statement, values) => {
          statements.push(typeof statement === 'string' ? statement : statement.text)
          return to.rows(statement, values)
        }
      const watched: Database = {
        ...database,
        rows: watch(database),
        transaction: (inside) =>
          database.transaction((tx) => {
            statements.push('begin')
            return inside({ rows: watch(tx) })
          }),
      }
      const guesses = createGuesses({
        throttle: createThrottle({ database: watched, clock }),
        known: createKnownNetworks({ database: watched, clock }),
        clock,
      })
      const own = createPasswordCheck({
        database: watched,
        audit: createAudit({ database: watched }),
        mailer: { send: async (_tx, { template, onlyFor }) => void statements.push(`mail ${template} ${onlyFor}`) },
        guesses,
        hashing: counting(createHashing({ settings })),
      })
      const claim = { email: readEmail(email) ?? assert.fail(), password: 'a wrong password' }
      const guessed: unknown[] = []
      for (let n = 0; n < 12; n++) {
        hashed = { verified: 0, made: 0, running: 0, most: 0 }
        statements = []
        const reply = await own(claim, visitorAt('192.0.2.7')).catch((error: unknown) => String(error))
        guessed.push({ reply, statements, verified: hashed.verified, made: hashed.made })
        now += 15 * minute
      }
      assert.equal(hashed.verified, 1)
      work.push(guessed)
    }
    assert.match(JSON.stringify(work[0]?.[9]), /mail account_changed person/, 'the tenth one warns')
    assert.deepEqual(work[1], work[0])
    assert.deepEqual(work[2], work[0])
  })
})

describe('B53: guesses', () => {
  test('wait longer and longer after the fourth, for known and unknown addresses alike', async () => {
    const { email } = await makePerson()
    for (const address of [email, 'nobody@example.com']) {
      for (let n = 0; n < 4; n++) assert.equal(await guess(address, 'wrong'), 'sign_in_failed')
      for (const wait of [1, 2, 4, 8]) {
        assert.equal(await guess(address, 'wrong'), 'sign_in_failed')
        hashed.verified = 0
        assert.deepEqual(await guess(address, right), ['too_many_sign_ins', wait])
        assert.equal(hashed.verified, 0, 'a refused guess is not checked')
        now += wait * second
      }
    }
  })

  test('start again after the right password', async () => {
    const { id, email } = await makePerson()
    for (let n = 0; n < 4; n++) await guess(email, 'wrong')
    assert.equal(await guess(email, right), id)
    for (let n = 0; n < 4; n++) assert.equal(await guess(email, 'wrong'), 'sign_in_failed')
  })

  test('elsewhere do not keep a person from a network that they have signed in from; together they are at most 100', async () => {
    const { id, email } = await makePerson()
    const guessAt = async (count: number, password: string, addressOf: (n: number) => string) => {
      const replies: unknown[] = []
      for (let n = 0; n < count; n++) {
        replies.push(await guess(email, password, addressOf(n)))
        now += 15 * minute
      }
      return replies
    }
    await networks().remember(database, id, '192.0.2.9')
    await guessAt(100, 'wrong', (n) => `198.51.100.${n}`)
    assert.ok(Array.isArray(await guess(email, right, '198.51.100.200')), 'the right password does not help there')
    assert.equal(await guess(email, right, '192.0.2.9'), id)
    hashed.verified = 0
    await guessAt(100, 'wrong', (n) => `198.51.100.${n}`)
    await guessAt(30, 'wrong', () => '192.0.2.9')
    assert.equal(hashed.verified, 100)
    assert.ok(Array.isArray(await guess(email, right, '192.0.2.9')))
  })

  test('are at most 100 also if other instances let them pass at the same moment', async () => {
    const { email } = await makePerson()
    const throttle = createThrottle({ database, clock: () => now })
    const guesses = createGuesses({ throttle: { ...throttle, wait: async () => 0 }, known: networks(), clock })
    check = openCheck(settings, guesses)
    const replies: unknown[] = []
    for (let n = 0; n < 120; n++) replies.push(await guess(email, 'wrong', `198.51.100.${n}`))
    assert.equal(hashed.verified, 80)
    assert.deepEqual(replies.slice(79, 82), ['sign_in_failed', ['too_many_sign_ins', 1], ['too_many_sign_ins', 1]])
  })

  test('at the same time for one address run one after the other, so the wait applies to them', async () => {
    const { email } = await makePerson()
    const replies = await Promise.all(Array.from({ length: 50 }, () => guess(email, 'wrong')))
    assert.equal(replies.filter((reply) => reply === 'sign_in_failed').length, 5)
    assert.equal(hashed.verified, 5)
  })

  test('of one sender are limited over all addresses; right ones do not count, and other senders go on', async () => {
    const { id, email } = await makePerson()
    for (let n = 0; n < 5; n++) assert.equal(await guess(email, right, '203.0.113.7'), id)
    const replies: unknown[] = []
    for (let n = 0; n < 105; n++) replies.push(await guess(`nobody${n}@example.com`, 'wrong', '203.0.113.7'))
    assert.equal(replies.filter((reply) => reply === 'sign_in_failed').length, 101)
    assert.deepEqual(replies.at(-1), ['too_many_sign_ins', 900])
    assert.deepEqual(await guess(email, right, '203.0.113.7'), ['too_many_sign_ins', 900])
    assert.equal(await guess(email, right, '203.0.113.8'), id)
    // Another instance finds out with one more guess.
    check = openCheck()
    assert.equal(await guess('nobody@example.com', 'wrong', '203.0.113.7'), 'sign_in_failed')
    assert.deepEqual(await guess(email, right, '203.0.113.7'), ['too_many_sign_ins', 900])
    now += 15 * minute
    assert.equal(await guess(email, right, '203.0.113.7'), id)
  })

  test('warn the person once, with an audit row, and never a stranger', async () => {
    const { id, email } = await makePerson()
    for (const address of [email, 'nobody@example.com']) {
      for (let n = 0; n < 30; n++) {
        await guess(address, 'wrong')
        now += 15 * minute
      }
    }
    // The mail to a stranger is dropped when it is about to be sent.
    const mail = { template: 'account_changed', values: { what: 'guessing' }, onlyFor: 'person' }
    assert.deepEqual(queued, [
      { ...mail, to: email },
      { ...mail, to: 'nobody@example.com' },
    ])
    const rows = await database.rows(
      `select actor, outcome from audit where action = 'password_guessed' and noun_id = $1`,
      [id],
    )
    assert.deepEqual(rows, [{ actor: 'service', outcome: 'refused' }])
  })
})

describe('B51: a hash', () => {
  test('is renewed at the next sign-in after the parameters were raised, and only then', async () => {
    const { id, email } = await makePerson()
    const hashOf = async () => (await readPasswordOwnerById(database, id))?.hash ?? ''
    const first = await hashOf()
    const raised = { memory: 128, passes: 2 }
    check = openCheck(raised)
    assert.equal(await guess(email, 'wrong'), 'sign_in_failed')
    assert.equal(await hashOf(), first)
    assert.equal(await guess(email, right), id)
    const renewed = await hashOf()
    assert.match(renewed, /^\$argon2id\$v=19\$m=128,t=2,p=1\$/)
    assert.equal(await guess(email, right), id)
    assert.equal(await hashOf(), renewed)
    check = openCheck()
    assert.equal(await guess(email, right), id)
    assert.equal(await hashOf(), renewed, 'lowered parameters change nothing')
    const events = await database.rows(`select actor from audit where action = 'password_rehashed' and noun_id = $1`, [
      id,
    ])
    assert.deepEqual(events, [{ actor: 'service' }])
  })

  test('is not renewed over a password that was chosen in the meantime', async () => {
    const { id, email } = await makePerson()
    const raised = { memory: 128, passes: 2 }
    const { inTurn } = createHashing({ settings: raised })
    const chosen = await inTurn((turn) => turn.hash('velvet harbour seven'))
    const overtaken: Hashing = {
      inTurn: (work) =>
        inTurn((turn) =>
          work({
            ...turn,
            async hash(password) {
              await writePassword(database, { personId: id, hash: chosen, at: new Date() })
              return turn.hash(password)
            },
          }),
        ),
    }
    check = openCheck(raised, openGuesses(), overtaken)
    assert.equal(await guess(email, right), id)
    check = openCheck(raised)
    assert.equal(await guess(email, right), 'sign_in_failed')
    assert.equal(await guess(email, 'velvet harbour seven'), id)
  })
})

describe('B54: 300 wrong passwords at the same time', () => {
  test('are hashed at most two at a time; those beyond the queue get 503', async () => {
    const replies = await Promise.all(
      Array.from({ length: 300 }, (_, n) => guess(`nobody${n}@example.com`, 'wrong', `198.51.100.${n}`)),
    )
    const counts = Map.groupBy(replies, String)
    assert.deepEqual(new Set(counts.keys()), new Set(['sign_in_failed', 'overloaded,5']))
    assert.ok((counts.get('sign_in_failed')?.length ?? 0) >= 200)
    assert.ok(hashed.most <= 2, `${hashed.most} at the same time`)
    assert.equal(await guess('nobody@example.com', 'wrong'), 'sign_in_failed')
  })
})

describe('B49: a password at sign-in', () => {
  test('is compared as a whole, in NFC, and never cut off', async () => {
    const long = `${'kx7 mv2 qp9 zt4 '.repeat(5)}M\u00fcnster`
    const { id, email } = await makePerson(long)
    assert.equal(await guess(email, long.normalize('NFD')), id)
    assert.equal(await guess(email, long.slice(0, 72)), 'sign_in_failed')
    assert.equal(await guess(email, `${long}\0`), 'sign_in_failed')
  })

  test('that is too long, or not a text, is refused without being hashed', async () => {
    for (const password of ['x'.repeat(1025), '\ud800']) {
      assert.equal(await guess('nobody@example.com', password), 'invalid_field')
    }
    assert.equal(hashed.verified, 0)
  })
})
