import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService, personActor } from '../../access/actor.ts'
import { createAudit, type Audit } from '../../access/audit/audit.ts'
import { createPeople } from '../../people/people.ts'
import type { Person } from '../../people/person.ts'
import { fixture } from '../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { until } from '../../../tests/support/until.ts'
import { waitingForLocks } from '../../../tests/support/waiting-for-locks.ts'
import { createSessions, type Sessions } from './sessions.ts'

const minute = 60_000
const lifetimes = { idle: 60 * minute, absolute: 12 * 60 * minute }

const { log } = createTestLog()

const { database } = openOwnDatabase(log)
const audit = fixture(() => createAudit({ database }))
const people = fixture(() => createPeople({ database, audit }))
const person = fixture(() => makePerson())

let made = 0
function makePerson(role: 'consultant' | 'partner' = 'consultant'): Promise<Person> {
  made++
  return people.create({ name: `Person ${made}`, email: `person${made}@example.com`, role }, byService)
}

/** Sessions on a clock that stands still until it is moved. */
function openSessions(): {
  sessions: Sessions
  pass: (ms: number) => void
  /** From now on nothing gets into the audit log, which then has no more room. */
  fillLog: () => void
  [Symbol.asyncDispose]: () => Promise<void>
} {
  let now = Date.parse('2026-03-02T09:00:00Z')
  let isFull = false
  const recordWithin: Audit['recordWithin'] = async (tx, entries) => {
    await audit.recordWithin(tx, entries)
    if (isFull) throw new Error('the log is full')
  }
  const sessions = createSessions({ database, audit: { recordWithin }, log, lifetimes, clock: () => now })
  return {
    sessions,
    pass: (ms) => {
      now += ms
    },
    fillLog: () => {
      isFull = true
    },
    [Symbol.asyncDispose]: () => sessions.close(),
  }
}

/** A Buffer as PostgreSQL reads it. */
function asText(part: unknown): unknown {
  const isBuffer = typeof part === 'object' && part !== null && 'type' in part && part.type === 'Buffer'
  return isBuffer && 'data' in part && Array.isArray(part.data) ? `\\x${Buffer.from(part.data).toString('hex')}` : part
}

const proof = { method: 'firm', factors: ['provider'] }
const cookie = (...values: string[]) => values.map((value) => `session=${value}`).join('; ')

describe('a session', () => {
  test('is recognised by its cookie, with its person and how they signed in', async () => {
    await using opened = openSessions()
    const { id, value } = await opened.sessions.start({ personId: person.id, ...proof })
    const session = await opened.sessions.recognise(`other=1; ${cookie(value)}`)
    assert.equal(session?.id, id)
    assert.deepEqual(session?.person, { ...person })
    assert.deepEqual([session?.method, session?.factors], ['firm', ['provider']])
  })

  test('B21: has a value of 256 random bits in a cookie that scripts and other sites do not get', async () => {
    await using opened = openSessions()
    const values = new Set<string>()
    for (let count = 0; count < 20; count++) {
      values.add((await opened.sessions.start({ personId: person.id, ...proof })).value)
    }
    assert.equal(values.size, 20)
    for (const value of values) assert.equal(Buffer.from(value, 'base64url').length, 32)
    assert.equal(opened.sessions.cookie('v'), 'session=v; Path=/; HttpOnly; Secure; SameSite=Lax')
    assert.match(opened.sessions.noCookie, /^session=; Path=\/; Max-Age=0; HttpOnly; Secure; SameSite=Lax$/)
  })

  test('B22: leaves nothing in the database that would be a cookie', async () => {
    await using opened = openSessions()
    const { value } = await opened.sessions.start({ personId: person.id, ...proof })
    const rows = await database.rows<{ text: string }>(`select session::text as text from session`)
    const dump = rows.map(({ text }) => text).join('\n')
    assert.doesNotMatch(dump, new RegExp(value))
    assert.ok(!dump.includes(Buffer.from(value, 'base64url').toString('hex')), 'the bits of the value are there')
    assert.ok(!dump.includes(Buffer.from(value).toString('hex')), 'the value is there as bytes')
  })

  test('B23: is never made of a value that came from elsewhere', async () => {
    await using opened = openSessions()
    for (const value of ['A'.repeat(43), 'x', '', "' or 1=1--", 'A'.repeat(5000)]) {
      assert.equal(await opened.sessions.recognise(cookie(value)), undefined)
    }
  })

  test('B27: ends at the idle limit, by this clock, though the cookie still comes', async () => {
    await using opened = openSessions()
    const { id, value } = await opened.sessions.start({ personId: person.id, ...proof })
    const isListed = async () => (await opened.sessions.list(person.id)).some((session) => session.id === id)
    opened.pass(lifetimes.idle - 1000)
    assert.ok(await isListed())
    assert.ok(await opened.sessions.recognise(cookie(value)))
    opened.pass(lifetimes.idle - 1000)
    assert.ok(await opened.sessions.recognise(cookie(value)), 'the idle limit counts from the last request')
    opened.pass(lifetimes.idle + 1000)
    assert.equal(await opened.sessions.recognise(cookie(value)), undefined)
    assert.equal(await opened.sessions.recognise(cookie(value)), undefined, 'and does not come back')
    assert.equal(await isListed(), false)
  })

  test('B27: ends at the absolute limit however much it is used', async () => {
    await using opened = openSessions()
    const { value } = await opened.sessions.start({ personId: person.id, ...proof })
    for (let passed = 0; passed < lifetimes.absolute - 30 * minute; passed += 30 * minute) {
      opened.pass(30 * minute)
      assert.ok(await opened.sessions.recognise(cookie(value)))
    }
    opened.pass(30 * minute - 1000)
    const last = await opened.sessions.recognise(cookie(value))
    assert.ok(last)
    assert.equal(last.idleEndsAt.getTime(), last.endsAt.getTime(), 'the idle limit is never after the absolute one')
    opened.pass(2000)
    assert.equal(await opened.sessions.recognise(cookie(value)), undefined)
  })

  test('B24, B34: gives way to the next one in the same browser, which no request in flight can hurt', async () => {
    await using opened = openSessions()
    const first = await opened.sessions.start({ personId: person.id, ...proof })
    const requests = Array.from({ length: 50 }, () => opened.sessions.recognise(cookie(first.value)))
    const second = await opened.sessions.start({ personId: person.id, ...proof, replaces: cookie(first.value) })
    await Promise.all(requests)
    assert.notEqual(second.value, first.value)
    assert.equal(await opened.sessions.recognise(cookie(first.value)), undefined)
    assert.equal((await opened.sessions.recognise(cookie(second.value)))?.id, second.id)
  })

  test('of somebody who is disabled does not count, however it came about', async () => {
    await using opened = openSessions()
    const { id } = await makePerson()
    const { value } = await opened.sessions.start({ personId: id, ...proof })
    const kept = await database.rows(`select * from session where person_id = $1`, [id])
    await people.setStatus(id, 'disabled', byService)
    await database.rows('insert into session select * from jsonb_populate_record(null::session, $1)', [
      JSON.stringify(kept[0], (_name, part: unknown) => asText(part)),
    ])
    assert.equal(await opened.sessions.recognise(cookie(value)), undefined)
  })

  test('cannot begin for somebody who is disabled', async () => {
    await using opened = openSessions()
    const { id } = await makePerson()
    await people.setStatus(id, 'disabled', byService)
    await assert.rejects(opened.sessions.start({ personId: id, ...proof }), { code: 'sign_in_refused' })
    const rows = await database.rows('select 1 from session where person_id = $1', [id])
    assert.equal(rows.length, 0)
  })
})

describe('B28: when a session was last used', () => {
  test('is written at most once a minute, and is exact a minute after', async () => {
    await using opened = openSessions()
    const { id, value } = await opened.sessions.start({ personId: person.id, ...proof })
    const versions = new Set<string>()
    const look = async () => {
      const [row] = await database.rows<{ version: string; at: Date }>(
        'select xmin::text as version, last_seen_at as at from session where id = $1',
        [id],
      )
      versions.add(row?.version ?? '')
      return row?.at.getTime()
    }
    const begin = await look()
    for (let count = 0; count < 1000; count++) {
      // Long enough for the background to write, were it to.
      if (count === 500) await new Promise((resolve) => setTimeout(resolve, 1200))
      opened.pass(59)
      await opened.sessions.recognise(cookie(value))
      if (count % 50 === 0) await look()
    }
    assert.equal(versions.size, 1, 'it was written within the minute')
    opened.pass(1000)
    await until(async () => (await look()) !== begin)
    assert.equal(await look(), (begin ?? 0) + 59_000)
    assert.equal(versions.size, 2)
  })

  test('that somebody works on is written later, and does not keep the others waiting', async () => {
    await using opened = openSessions()
    const { sessions, pass } = opened
    const [first, second] = [
      await sessions.start({ personId: person.id, ...proof }),
      await sessions.start({ personId: person.id, ...proof }),
    ]
    pass(2 * minute)
    const seen = async () => {
      const rows = await database.rows<{ late: boolean }>(
        'select last_seen_at > created_at as late from session where id = any($1) order by array_position($1, id)',
        [[first.id, second.id]],
      )
      return rows.map(({ late }) => late)
    }
    await database.transaction(async (tx) => {
      await tx.rows('select from session where id = $1 for update', [second.id])
      await Promise.all([first, second].map(({ value }) => sessions.recognise(cookie(value))))
      await until(async () => (await seen())[0] === true)
      // What waited for the second with this one locked would be waited for here.
      await tx.rows('select from session where id = $1 for update', [first.id])
      assert.deepEqual(await seen(), [true, false])
    })
    await until(async () => (await seen())[1] === true)
  })

  test('holds on another instance, also before it is written there', async () => {
    await using one = openSessions()
    await using other = openSessions()
    const { value } = await one.sessions.start({ personId: person.id, ...proof })
    one.pass(lifetimes.idle - minute)
    other.pass(lifetimes.idle + minute)
    await one.sessions.recognise(cookie(value))
    await until(async () => (await other.sessions.recognise(cookie(value))) !== undefined)
  })

  test('is never moved back by an instance that saw an earlier one', async () => {
    const one = openSessions()
    await using other = openSessions()
    const { id, value } = await one.sessions.start({ personId: person.id, ...proof })
    const seconds = async () => {
      const [row] = await database.rows<{ seconds: number }>(
        'select extract(epoch from last_seen_at - created_at)::int as seconds from session where id = $1',
        [id],
      )
      return row?.seconds
    }
    one.pass(minute / 2)
    await one.sessions.recognise(cookie(value))
    other.pass(10 * minute)
    await other.sessions.recognise(cookie(value))
    await until(async () => (await seconds()) === 600)
    await one.sessions.close()
    assert.equal(await seconds(), 600)
  })
})

describe('B35: several cookies of the name', () => {
  test('find the one that is valid, among four', async () => {
    await using opened = openSessions()
    const { id, value } = await opened.sessions.start({ personId: person.id, ...proof })
    const planted = ['B', 'C', 'D', 'E'].map((letter) => letter.repeat(43))
    const orders = [
      [...planted, value],
      [...planted.slice(0, 3), value],
      [value, ...planted.slice(0, 3)],
    ]
    for (const values of orders) assert.equal((await opened.sessions.recognise(cookie(...values)))?.id, id)
    assert.equal(await opened.sessions.recognise(cookie(value, ...planted)), undefined, 'the fifth is not looked up')
  })

  test('of two people sign both out, and say so in the audit log', async () => {
    await using opened = openSessions()
    const other = await makePerson()
    const mine = await opened.sessions.start({ personId: person.id, ...proof })
    const planted = await opened.sessions.start({ personId: other.id, ...proof })
    assert.equal(await opened.sessions.recognise(cookie(planted.value, mine.value)), undefined)
    assert.equal(await opened.sessions.recognise(cookie(mine.value)), undefined)
    assert.equal(await opened.sessions.recognise(cookie(planted.value)), undefined)
    const entries = await database.rows(`select 1 from audit where action = 'session_ended' and noun_id = any($1)`, [
      [mine.id, planted.id],
    ])
    assert.equal(entries.length, 2)
  })
})

/** A session as recorded in the audit log. */
function noted(id: string): Promise<object[]> {
  return database.rows<object>(
    `select action, outcome, person_id as "personId", request_id as "requestId", address, details from audit
     where noun = 'session' and noun_id = $1 order by audit.id`,
    [id],
  )
}

const by = (personId: string, from: object, action: string, details: object | null = null) => ({
  action,
  outcome: 'allowed',
  personId,
  ...from,
  details,
})

describe('the audit log', () => {
  test('has how a session began and ended, and by which request', async () => {
    await using opened = openSessions()
    const partner = await makePerson('partner')
    const request = { requestId: 'r1', address: '192.0.2.1' }
    const later = { requestId: 'r2', address: '192.0.2.2' }
    const first = await opened.sessions.start({ personId: person.id, ...proof, request })
    const next = await opened.sessions.start({
      personId: person.id,
      ...proof,
      replaces: cookie(first.value),
      request: later,
    })
    const other = await opened.sessions.start({ personId: person.id, ...proof, request })
    await opened.sessions.endOf(cookie(next.value), later)
    await opened.sessions.end({ personId: person.id, id: other.id }, { actor: personActor(partner), ...later })
    const signIn = { method: 'firm', factors: 'provider' }
    assert.deepEqual(await noted(first.id), [
      by(person.id, request, 'sign_in', signIn),
      by(person.id, later, 'session_ended', { why: 'another sign-in in the same browser' }),
    ])
    assert.deepEqual(await noted(next.id), [by(person.id, later, 'sign_in', signIn), by(person.id, later, 'sign_out')])
    assert.deepEqual(await noted(other.id), [
      by(person.id, request, 'sign_in', signIn),
      by(partner.id, later, 'session_revoked', { of: person.id }),
    ])
  })

  test('and a session go together: what cannot be noted does not happen', async () => {
    await using opened = openSessions()
    const { sessions } = opened
    const someone = await makePerson()
    const [mine, planted] = await Promise.all(
      [person, someone].map(({ id }) => sessions.start({ personId: id, ...proof })),
    )
    assert.ok(mine && planted)
    const count = () => database.rows('select id from session where person_id = any($1)', [[person.id, someone.id]])
    const earlier = (await count()).length
    opened.fillLog()
    const full = /the log is full/
    await assert.rejects(sessions.start({ personId: person.id, ...proof, replaces: cookie(mine.value) }), full)
    await assert.rejects(sessions.endOf(cookie(mine.value), {}), full)
    await assert.rejects(sessions.end({ personId: person.id }, byService), full)
    await assert.rejects(sessions.recognise(cookie(mine.value, planted.value)), full)
    assert.equal((await count()).length, earlier)
    assert.deepEqual((await noted(mine.id)).length, 1)
  })
})

describe('a change of a person', () => {
  test('and a sign-in in place of a session of theirs wait for each other in one order', async () => {
    await using opened = openSessions()
    const { id: personId } = await makePerson()
    const old = await opened.sessions.start({ personId, ...proof })
    const starting = await database.transaction(async (tx) => {
      await tx.rows('select from person where id = $1 for no key update', [personId])
      const begun = Promise.allSettled([opened.sessions.start({ personId, ...proof, replaces: cookie(old.value) })])
      await until(async () => (await waitingForLocks(database)) > 0)
      await tx.rows('delete from session where person_id = $1', [personId])
      return { begun }
    })
    const [started] = await starting.begun
    assert.equal(started.status, 'fulfilled')
  })

  test('of role or status ends every session of theirs, and nobody else’s', async () => {
    await using opened = openSessions()
    for (const change of [
      (id: string) => people.setRole(id, 'partner', byService),
      (id: string) => people.setStatus(id, 'disabled', byService),
      (id: string) => database.rows(`update person set role = 'partner' where id = $1`, [id]),
    ]) {
      const { id } = await makePerson()
      const started = await opened.sessions.start({ personId: id, ...proof })
      const unrelated = await opened.sessions.start({ personId: person.id, ...proof })
      await change(id)
      assert.equal(await opened.sessions.recognise(cookie(started.value)), undefined)
      assert.ok(await opened.sessions.recognise(cookie(unrelated.value)))
    }
  })

  test('that is none ends nothing', async () => {
    await using opened = openSessions()
    const { id } = await makePerson()
    const { value } = await opened.sessions.start({ personId: id, ...proof })
    await people.setRole(id, 'consultant', byService)
    assert.ok(await opened.sessions.recognise(cookie(value)))
  })
})

const atNine = (): number => Date.parse('2026-03-02T09:00:00Z')

test('B64: a session without a second factor that is required by now is not recognised', async () => {
  await using opened = openSessions()
  const begin = async (role: 'consultant' | 'partner', ...factors: string[]) => {
    const { id } = await makePerson(role)
    return cookie((await opened.sessions.start({ personId: id, method: 'firm', factors })).value)
  }
  const consultant = await begin('consultant', 'provider')
  const partner = await begin('partner', 'provider')
  const withTwo = await begin('partner', 'provider', 'totp')
  const recognisedUnder = async (secondFactor: 'off' | 'optional' | 'partners' | 'required') => {
    const sessions = createSessions({ database, audit, log, lifetimes, secondFactor, clock: atNine })
    const found = await Promise.all([consultant, partner, withTwo].map((each) => sessions.recognise(each)))
    await sessions.close()
    return found.map((session) => session !== undefined)
  }
  assert.deepEqual(await recognisedUnder('off'), [true, true, true])
  assert.deepEqual(await recognisedUnder('optional'), [true, true, true])
  assert.deepEqual(await recognisedUnder('partners'), [true, false, true])
  assert.deepEqual(await recognisedUnder('required'), [false, false, true])
})
