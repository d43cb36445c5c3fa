import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { byService } from '../access/actor.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { watched } from '../../tests/support/meeting.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { createAudit } from '../access/audit/audit.ts'
import { createPeople } from '../people/people.ts'
import { removeExpired } from './housekeeping.ts'

const hour = 3_600_000
const lifetimes = { idle: hour, absolute: 12 * hour }
const now = Date.parse('2026-03-02T09:00:00Z')

const { database } = openOwnDatabase()
const audit = fixture(() => createAudit({ database }))
const person = fixture(() =>
  createPeople({ database, audit }).create({ name: 'P', email: 'p@example.com', role: 'consultant' }, byService),
)
beforeEach(() => database.rows('delete from session'))

const clean = () => removeExpired({ database, audit, lifetimes, clock: () => now })

/** Sessions that were last seen and that end so many ms from now. */
async function fill(sessions: number, { seen, ends }: { seen: number; ends: number }): Promise<void> {
  await database.rows(
    `insert into session (hash, id, person_id, method, factors, device, network, created_at, last_seen_at, ends_at)
     select sha256(gen_random_uuid()::text::bytea), gen_random_uuid(), $2, 'firm', '{provider}', '', '', $3, $3, $4
     from generate_series(1, $1)`,
    [sessions, person.id, new Date(now + seen), new Date(now + ends)],
  )
}

async function count(table: string): Promise<number> {
  const [row] = await database.rows<{ count: bigint }>(`select count(*) from ${table}`)
  return Number(row?.count)
}

describe('B37: what is over', () => {
  test('is removed at its limits, not before', async () => {
    await fill(1, { seen: -hour, ends: hour })
    await fill(2, { seen: -1000, ends: 0 })
    await fill(4, { seen: 1000 - hour, ends: 1000 })
    await clean()
    assert.equal(await count('session'), 4)
    const entries = await database.rows(
      `select details ->> 'why' as why, count(*)::int as n, count(distinct noun_id)::int as sessions from audit
       where action = 'session_expired' and actor = 'service' and details ->> 'of' = $1 group by 1 order by 1`,
      [person.id],
    )
    assert.deepEqual(entries, [
      { why: 'absolute', n: 2, sessions: 2 },
      { why: 'idle', n: 1, sessions: 1 },
    ])
  })

  test('stays where it cannot be noted', async () => {
    await fill(2, { seen: -2 * hour, ends: hour })
    const full = { recordWithin: () => Promise.reject(new Error('the log is full')) }
    await assert.rejects(removeExpired({ database, audit: full, lifetimes, clock: () => now }), /the log is full/)
    assert.equal(await count('session'), 2)
  })

  test('goes in batches of a thousand at most, all of it', async () => {
    await fill(2500, { seen: -2 * hour, ends: hour })
    await fill(3, { seen: 0, ends: hour })
    const batches: number[] = []
    const counted = watched(database, (statement, rows) => {
      if (statement.includes('skip locked')) batches.push(rows)
    })
    await removeExpired({ database: counted, audit, lifetimes, clock: () => now })
    assert.deepEqual(batches, [1000, 1000, 500])
    assert.equal(await count('session'), 3)
  })

  test('is passed over where somebody else holds it, without waiting', async () => {
    await fill(3, { seen: -2 * hour, ends: hour })
    await database.transaction(async (tx) => {
      await tx.rows('select 1 from session limit 1 for update')
      // If the housekeeping waited for the lock, it would deadlock with this transaction.
      await clean()
    })
    assert.equal(await count('session'), 1)
    await clean()
    assert.equal(await count('session'), 0)
  })

  test('of sign-ins under way, logout tokens, limits and mailed links goes as well', async () => {
    for (const [ends, name] of [
      [0, 'over'],
      [1000, 'not over'],
    ] as const) {
      await database.rows(
        `insert into sign_in_attempt (state_hash, browser_hash, method, return_to, expires_at)
         values (sha256($1::text::bytea), sha256('b'), 'firm', '/', $2)`,
        [name, new Date(now + ends)],
      )
      await database.rows('insert into logout_token (issuer, jti, expires_at) values ($1, $1, $2)', [
        name,
        new Date(now + ends),
      ])
      await database.rows(`insert into throttle (kind, key, expires_at) values ('test', sha256($1::text::bytea), $2)`, [
        name,
        new Date(now + ends),
      ])
      await database.rows(
        `insert into email_link (email_key, email, token_hash, code, state_hash, device, expires_at)
         values ($1, $1, sha256($1::text::bytea), 'code', sha256('state'), '', $2)`,
        [name, new Date(now + ends)],
      )
    }
    await clean()
    const tables = ['sign_in_attempt', 'logout_token', 'throttle', 'email_link']
    assert.deepEqual(await Promise.all(tables.map(count)), [1, 1, 1, 1])
  })
})
