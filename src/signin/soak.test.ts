import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixture, setUp } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { byService } from '../access/actor.ts'
import { createAudit } from '../access/audit/audit.ts'
import { createPeople } from '../people/people.ts'
import { createEncryption } from '../platform/encryption/encryption.ts'
import { createAttempts } from './attempt/attempts.ts'
import { newSecret } from './session/cookies.ts'
import { removeExpired } from './housekeeping.ts'
import { createSessions, type Sessions } from './session/sessions.ts'
import { acceptLogoutToken } from './methods/oidc/store.ts'

// B37 over three days of a firm, by a clock of its own: what the people do, and what is to be left of it.

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000]
const lifetimes = { idle: hour, absolute: 12 * hour }
const step = 20 * minute
const monday = Date.parse('2026-03-02T00:00:00Z')
const heads = 200
const { log } = createTestLog()

let people: string[]
let now = monday
const clock = () => now

const { database } = openOwnDatabase(log)
const audit = fixture(() => createAudit({ database }))
setUp(async () => {
  const all = createPeople({ database, audit })
  const made = Array.from({ length: heads }, (_, n) =>
    all.create({ name: `P ${n}`, email: `p${n}@firm.example`, role: 'consultant' }, byService),
  )
  people = (await Promise.all(made)).map(({ id }) => id)
})

interface Browser {
  readonly cookie: string
  readonly ends: number
  used: number
}

const isAlive = ({ used, ends }: Browser) => now < ends && now < used + lifetimes.idle

/** What people have open, by the person; some have two browsers. */
const open = new Map<string, Browser>()
const told = { begun: 0, ended: 0 }

/** A number from 0 to 99 that is the same in every run. */
const chance = (...seeds: number[]) => seeds.reduce((sum, seed) => (sum * 31 + seed * 17 + 7) % 7919, 1) % 100

/** One person at one step of a working day: comes in, works, pauses, signs out or forgets to. */
async function live(sessions: Sessions, who: number, steps: number): Promise<void> {
  const time = (now - monday) % day
  const isAtWork = time >= (7 + (who % 3)) * hour && time < (15 + (who % 5)) * hour
  const personId = people[who]
  for (const device of who % 4 === 0 ? ['desk', 'phone'] : ['desk']) {
    const place = `${who} ${device}`
    const known = open.get(place)
    if (!isAtWork || personId === undefined || chance(who, steps, device.length) < 20) continue
    const session = known && (await sessions.recognise(`session=${known.cookie}`))
    assert.equal(
      session !== undefined,
      known !== undefined && isAlive(known),
      `${place} at ${new Date(now).toISOString()}`,
    )
    if (known && session) {
      known.used = now
      if (chance(steps, who) >= 3) continue
      const ended = await sessions.endOf(`session=${known.cookie}`, {})
      told.ended += ended.length
      open.delete(place)
    } else {
      const { value } = await sessions.start({ personId, method: 'firm', factors: ['provider'] })
      open.set(place, { cookie: value, used: now, ends: now + lifetimes.absolute })
      told.begun++
    }
  }
}

async function count(table: 'session' | 'sign_in_attempt' | 'logout_token'): Promise<number> {
  const [row] = await database.rows<{ n: bigint }>(`select count(*) as n from ${table}`)
  return Number(row?.n)
}

/** The bytes of the three tables with their indexes. */
async function size(): Promise<number> {
  const [row] = await database.rows<{ n: bigint }>(
    `select sum(pg_total_relation_size(t))::int8 as n
     from unnest('{session,sign_in_attempt,logout_token}'::regclass[]) as t`,
  )
  return Number(row?.n)
}

/** By itself, a vacuum may leave dead entries in the indexes if they are few, and then their rows take room too. */
const vacuum = 'vacuum (index_cleanup on, truncate on) session, sign_in_attempt, logout_token'

test('over three days the tables hold what is alive and nothing else, and do not grow', async () => {
  const encryption = createEncryption(Buffer.alloc(32))
  const attempts = createAttempts({ database, encryption, baseUrl: 'https://tollgate.test', clock })
  const sizes: number[] = []
  let most = 0
  for (let steps = 0; now < monday + 3 * day; steps++) {
    // Another instance each time, as if they were started anew all day.
    const sessions = createSessions({ database, audit, log, lifetimes, clock })
    await Promise.all(people.map((_, who) => live(sessions, who, steps)))
    await sessions.close()
    const begin = () =>
      attempts.begin({
        state: newSecret(),
        method: 'firm',
        data: { nonce: newSecret(), codeVerifier: newSecret() },
        returnTo: `/clients?q=${'x'.repeat(1500)}`,
        cookies: undefined,
      })
    await Promise.all(Array.from({ length: 60 }, begin))
    await acceptLogoutToken(database, { issuer: 'i', jti: `${steps}`, expiresAt: new Date(now + 2 * minute) })

    for (const later of [5 * minute, step - 5 * minute - second]) {
      now += later
      await removeExpired({ database, audit, lifetimes, clock })
    }
    const alive = [...open.values()].filter(isAlive).length
    assert.equal(await count('session'), alive, new Date(now).toISOString())
    // Those of the step before have had their half hour.
    assert.equal(await count('sign_in_attempt'), 60)
    assert.equal(await count('logout_token'), 0)
    most = Math.max(most, alive)
    now += second
    if (steps % 6 === 5) await database.rows(vacuum)
    if (now % day === 0) sizes.push(await size())
  }
  assert.ok(told.begun > 3 * heads, `${told.begun} sessions`)
  assert.ok(most > heads / 2 && most <= 1.25 * heads, `${most} at the same time`)
  assert.equal(sizes.length, 3)
  // If nothing were deleted, three times as much as on the first day. Pages that a vacuum could not free come on top of what is
  // alive, which is counted exactly above.
  assert.ok((sizes[2] ?? Infinity) <= 2 * (sizes[0] ?? 0), `${sizes.join(', ')} bytes`)

  now += day
  await removeExpired({ database, audit, lifetimes, clock })
  assert.deepEqual([await count('session'), await count('sign_in_attempt')], [0, 0])
  const [row] = await database.rows<{ n: bigint }>(`select count(*) as n from audit where action = 'session_expired'`)
  assert.equal(Number(row?.n) + told.ended, told.begun)
})
