import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { byService } from '../../access/actor.ts'
import { assertBetween, settle, stopClock } from '../../../tests/support/clock.ts'
import { until } from '../../../tests/support/until.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { valuesOf } from '../../../tests/support/json.ts'
import { openDatabase, type Database, type Statement } from '../../platform/database/database.ts'
import { Problem, type ProblemCode } from '../../platform/problems.ts'
import { createAccounts } from '../accounts.ts'
import { formatKey, parseKey } from './key-format.ts'
import { createKey } from './new-key.ts'
import { createKeys, type IssuedKey, type KeyRequest, type Keys } from './keys.ts'

const { log, text: logged } = createTestLog()
const hour = 3_600_000

let accountId: string

const { own: home, database } = openOwnDatabase(log)
const accounts = fixture(() => createAccounts({ database }))
const keys = fixture(() => createKeys({ database, log }))
setUp(async () => {
  accountId = (await addAccount()).id
})

const addAccount = () =>
  accounts.create({ name: randomUUIDv7(), requestsPerMinute: 60, tokensPerMinute: 1000 }, byService)
const addKey = (request: Partial<KeyRequest> = {}): Promise<IssuedKey> =>
  keys.create({ accountId, name: 'backend', allowedModels: null, expiresAt: null, ...request }, byService)

/** A database that records its statements. */
function counted(real: Database): { database: Database; asked: Statement[] } {
  const asked: Statement[] = []
  const rows: Database['rows'] = (query, values = []) => {
    asked.push(typeof query === 'string' ? { text: query, values } : query)
    return real.rows(query, values)
  }
  return { database: { ...real, rows }, asked }
}

async function withInstance<Result>(on: Database, work: (instance: Keys) => Promise<Result>): Promise<Result> {
  const instance = createKeys({ database: on, log })
  const result = await work(instance).catch((error: unknown) => {
    // Closing may wait for what a test that failed still holds back.
    instance.close().catch(() => undefined)
    throw error
  })
  await instance.close()
  return result
}

const codeOf = async (identified: object | Promise<object>): Promise<ProblemCode | 'let in'> => {
  try {
    await identified
    return 'let in'
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}
const sent = (key: string) => `Bearer ${key}`

/** The public id of one key with another secret, well-formed and with a valid checksum. */
function withWrongSecret(key: string): string {
  const [mine, other] = [parseKey(key), parseKey(createKey().key)]
  assert.ok(mine && other)
  return formatKey({ publicId: mine.publicId, secret: other.secret })
}

const sql = (text: string, ...values: unknown[]) => database.rows(text, values)

test('a valid key is accepted, with its permissions', async () => {
  const { id, key } = await addKey({ allowedModels: ['tiny', 'fast'] })
  const permissions = { own: false, allowedModels: ['tiny', 'fast'], limitId: undefined, sharedBudgets: undefined }
  const caller = { publicId: key.slice(3, 15), keyId: id, accountId, ...permissions }
  assert.deepEqual(await keys.identify(sent(key)), caller)
  assert.deepEqual(await keys.identify(`bearer   ${key}`), caller, 'RFC 9110: the scheme is case-insensitive')
})

test('A7 each reason for a refusal has its code', async () => {
  const { key } = await addKey()
  const expired = await addKey()
  await sql(`update api_key set expires_at = now() where id = $1`, expired.id)
  const revoked = await addKey()
  await keys.revoke(revoked.id, byService)
  const rotated = await addKey()
  await keys.rotate(rotated.id, { overlapMs: 0 }, byService)
  const homeless = await addKey({ accountId: null })
  const closed = await addAccount()
  const ofClosed = await addKey({ accountId: closed.id })
  await accounts.close(closed.id, byService)

  const cases: [string, string | undefined, ProblemCode][] = [
    ['no header', undefined, 'missing_key'],
    ['an empty header', '', 'missing_key'],
    ['another scheme', `Basic ${key}`, 'missing_key'],
    ['the key alone', key, 'missing_key'],
    ['a scheme without a key', 'Bearer', 'missing_key'],
    ['a scheme and spaces', 'Bearer   ', 'missing_key'],
    ['a word', 'Bearer hello', 'invalid_key'],
    ['a key cut off', sent(key.slice(0, -1)), 'invalid_key'],
    ['two keys', sent(`${key} ${key}`), 'invalid_key'],
    ['one changed character', sent(key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))), 'invalid_key'],
    ['a made-up key', sent(createKey().key), 'invalid_key'],
    ['a wrong secret', sent(withWrongSecret(key)), 'invalid_key'],
    ['an expired key', sent(expired.key), 'expired_key'],
    ['a revoked key', sent(revoked.key), 'revoked_key'],
    ['a rotated-out key', sent(rotated.key), 'expired_key'],
    ['a key without account', sent(homeless.key), 'no_billing_account'],
    ['a key of a closed account', sent(ofClosed.key), 'no_billing_account'],
  ]
  for (const [what, header, code] of cases) assert.equal(await codeOf(keys.identify(header)), code, what)
  assert.equal(await codeOf(keys.identify(sent(key))), 'let in')
})

test('a caller stays known until the key or its account ends, without another check of the secret', async () => {
  const [revoked, closed] = [await addKey({ allowedModels: ['tiny'] }), await addAccount()]
  const ofClosed = await addKey({ accountId: closed.id })
  const [first, second] = [await keys.identify(sent(revoked.key)), await keys.identify(sent(ofClosed.key))]
  assert.deepEqual(await keys.identifyAgain(first), first)
  assert.deepEqual(await keys.identifyAgain(second), second)
  await Promise.all([keys.revoke(revoked.id, byService), accounts.close(closed.id, byService)])
  await until(async () => (await codeOf(keys.identifyAgain(first))) !== 'let in')
  await until(async () => (await codeOf(keys.identifyAgain(second))) !== 'let in')
  assert.equal(await codeOf(keys.identifyAgain(first)), 'revoked_key')
  assert.equal(await codeOf(keys.identifyAgain(second)), 'no_billing_account')
  assert.equal(await codeOf(keys.identifyAgain({ ...first, publicId: 'nobodys' })), 'invalid_key')
})

test('a wrong secret never reveals that the key is revoked, expired or without an account', async () => {
  const revoked = await addKey({ accountId: null })
  await keys.revoke(revoked.id, byService)
  assert.equal(await codeOf(keys.identify(sent(withWrongSecret(revoked.key)))), 'invalid_key')
})

test('a mistyped key is refused without a lookup, a correct one is looked up once', async (t) => {
  // No refresh comes in between.
  stopClock(t)
  const { key } = await addKey()
  const { database: watched, asked } = counted(database)
  await withInstance(watched, async (instance) => {
    const refuseMistyped = async () => {
      for (let place = 0; place < 66; place += 1) {
        const other = key[place] === 'x' ? 'y' : 'x'
        const mistyped = key.slice(0, place) + other + key.slice(place + 1)
        assert.equal(await codeOf(instance.identify(sent(mistyped))), 'invalid_key')
      }
      for (const wrong of [`${key}x`, `${key} `, key.slice(0, -1), `x${key}`]) {
        assert.equal(await codeOf(instance.identify(sent(wrong))), 'invalid_key')
      }
    }
    await refuseMistyped()
    assert.equal(asked.length, 0)
    for (let time = 0; time < 100; time += 1) await instance.identify(sent(key))
    assert.equal(asked.length, 1)
    await refuseMistyped()
    assert.equal(asked.length, 1, 'also while the correct one is in use')
  })
})

test('an unknown public id takes the same work as a wrong secret, whether or not the correct key is in use', async (t) => {
  // No refresh comes in between.
  stopClock(t)
  const { key } = await addKey()
  const { database: watched, asked } = counted(database)
  await withInstance(watched, async (instance) => {
    const workOf = async (wrong: string) => {
      const known = asked.length
      assert.equal(await codeOf(instance.identify(sent(wrong))), 'invalid_key')
      return asked.slice(known).map(({ name, values }) => [name, values?.length])
    }
    const unknown = await workOf(createKey().key)
    assert.deepEqual(unknown, [['keys_by_public_id', 1]])
    assert.deepEqual(await workOf(withWrongSecret(key)), unknown, 'before its first use')
    await instance.identify(sent(key))
    assert.deepEqual(await workOf(withWrongSecret(key)), unknown, 'while it is in use')
    assert.deepEqual(await workOf(createKey().key), unknown, 'a second time')
  })
})

test('concurrent lookups share a query', async (t) => {
  // No refresh comes in between.
  stopClock(t)
  const made = await Promise.all(Array.from({ length: 20 }, () => addKey()))
  const { database: watched, asked } = counted(database)
  await withInstance(watched, async (instance) => {
    const first = made[0] ?? assert.fail()
    await Promise.all(Array.from({ length: 50 }, async () => instance.identify(sent(first.key))))
    assert.equal(asked.length, 1, 'the same key')
    const callers = await Promise.all(made.slice(1).map(async ({ key }) => instance.identify(sent(key))))
    assert.equal(asked.length, 2, 'different keys')
    assert.deepEqual(valuesOf(callers, 'keyId'), valuesOf(made.slice(1), 'id'))
    await Promise.all(Array.from({ length: 50 }, () => codeOf(instance.identify(sent(createKey().key)))))
    assert.equal(asked.length, 3, 'unknown keys')
  })
})

test('keys in use are refreshed in one query; unknown ids and wrong secrets are not cached', async (t) => {
  const clock = stopClock(t)
  const [used, guessed] = [await addKey(), await addKey()]
  const { database: watched, asked } = counted(database)
  await withInstance(watched, async (instance) => {
    await instance.identify(sent(used.key))
    await Promise.all(Array.from({ length: 500 }, () => codeOf(instance.identify(sent(createKey().key)))))
    await codeOf(instance.identify(sent(withWrongSecret(guessed.key))))
    const lookedUp = asked.length
    for (const refreshes of [1, 2]) {
      await until(() => {
        clock.advance(50)
        return asked.length > lookedUp + refreshes - 1
      })
      await settle()
      assert.equal(asked.length, lookedUp + refreshes, 'all in one query')
    }
    for (const { values } of asked.slice(lookedUp)) assert.deepEqual(values, [[used.key.slice(3, 15)]])
  })
})

test('a slow refresh never overrides what a later lookup found', async (t) => {
  const clock = stopClock(t)
  const [valid, revoked] = [await addKey(), await addKey()]
  const { database: watched, asked } = counted(database)
  const held = Promise.withResolvers<void>()
  const rows: Database['rows'] = async (query, values = []) => {
    const isRefresh = asked.length === 2
    const found = await watched.rows<never>(query, values)
    if (isRefresh) await held.promise
    return found
  }
  await withInstance({ ...watched, rows }, async (instance) => {
    for (const { key } of [valid, revoked]) await instance.identify(sent(key))
    clock.advance(500)
    await until(() => asked.length === 3)
    // What was read first is too old now, and the refresh is not.
    clock.advance(501)
    await keys.revoke(revoked.id, byService)
    for (let time = 0; time < 3; time += 1) await instance.identify(sent(valid.key))
    assert.equal(asked.length, 4, 'looked up once and cached')
    assert.equal(await codeOf(instance.identify(sent(revoked.key))), 'revoked_key')
    held.resolve()
    await settle()
    assert.equal(await codeOf(instance.identify(sent(revoked.key))), 'revoked_key')
  })
})

test('a key that is not used for a minute is forgotten, and looked up when it is used again', async (t) => {
  const clock = stopClock(t)
  const { key } = await addKey()
  const { database: watched, asked } = counted(database)
  const reads = () => asked.filter(({ name }) => name === 'keys_by_public_id').length
  await withInstance(watched, async (instance) => {
    await instance.identify(sent(key))
    clock.advance(60_600)
    await until(() => reads() === 2)
    for (let pause = 0; pause < 3; pause += 1) {
      await settle()
      clock.advance(500)
    }
    await settle()
    assert.equal(reads(), 2, 'it is refreshed no more')
    await instance.identify(sent(key))
    assert.equal(reads(), 3)
  })
})

test('revoking, closing, rotating and expiring take effect on another instance within a second', async (t) => {
  const clock = stopClock(t)
  const [revoked, closed, rotated, expired] = [await addKey(), await addAccount(), await addKey(), await addKey()]
  const ofClosed = await addKey({ accountId: closed.id })
  const changes: [key: string, change: () => Promise<unknown>, refusal: string][] = [
    [revoked.key, () => keys.revoke(revoked.id, byService), 'revoked_key'],
    [ofClosed.key, () => accounts.close(closed.id, byService), 'no_billing_account'],
    [rotated.key, () => keys.rotate(rotated.id, { overlapMs: 0 }, byService), 'expired_key'],
    [expired.key, () => sql('update api_key set expires_at = now() where id = $1', expired.id), 'expired_key'],
  ]
  for (const [key, change, refusal] of changes) {
    await withInstance(database, async (instance) => {
      await instance.identify(sent(key))
      await change()
      clock.advance(1001)
      assert.equal(await codeOf(instance.identify(sent(key))), refusal)
    })
  }
})

test('a key in use expires on time, without waiting for a refresh', async (t) => {
  const clock = stopClock(t)
  const { id, key } = await addKey()
  const { database: watched, asked } = counted(database)
  // On a slow machine the key may expire before its first use. An instance that has read it so keeps it while the clock stands.
  await until(() =>
    withInstance(watched, async (instance) => {
      await sql(`update api_key set expires_at = clock_timestamp() + interval '900 ms' where id = $1`, id)
      if ((await codeOf(instance.identify(sent(key)))) !== 'let in') return false
      const lookedUp = asked.length
      clock.advance(900)
      assert.equal(await codeOf(instance.identify(sent(key))), 'expired_key')
      const refreshes = asked.slice(lookedUp).filter(({ values }) => Array.isArray(values?.[0]))
      assert.ok(refreshes.length <= 1, 'it did not look the key up')
      return true
    }),
  )
})

test('while the database is unavailable, a key in use is accepted for a second, then none; never 401', async (t) => {
  const clock = stopClock(t)
  const { key } = await addKey()
  const away = openDatabase(home.url, { log })
  await withInstance(away, async (instance) => {
    await instance.identify(sent(key))
    await away.close()
    assert.equal(await codeOf(instance.identify(sent(key))), 'let in')
    assert.equal(await codeOf(instance.identify(sent(createKey().key))), 'unavailable')
    assert.equal(await codeOf(instance.identify(sent(withWrongSecret(key)))), 'unavailable')
    clock.advance(1001)
    assert.equal(await codeOf(instance.identify(sent(key))), 'unavailable')
  })
})

test('while the database hangs, a lookup fails after 4 s, also one that waits for the query of another', async (t) => {
  const [first, second] = [await addKey(), await addKey()]
  await withInstance({ ...database, rows: () => new Promise(() => undefined) }, async (instance) => {
    const clock = stopClock(t)
    let isOver = false
    const codes = Promise.all([first, second].map(({ key }) => codeOf(instance.identify(sent(key)))))
    void codes.finally(() => (isOver = true))
    await settle()
    clock.advance(3999)
    await settle()
    assert.ok(!isOver)
    clock.advance(1)
    await settle()
    assert.ok(isOver)
    assert.deepEqual(await codes, ['unavailable', 'unavailable'])
  })
})

test('the last use is stored to the minute, in the background and once', async (t) => {
  // No refresh comes in between.
  stopClock(t)
  const { id, key } = await addKey()
  const { database: watched, asked } = counted(database)
  const lastUsed = async () => (await keys.list(accountId)).find((entry) => entry.id === id)?.lastUsedAt
  const version = async () => await sql('select xmin from api_key where id = $1', id)
  assert.equal(await lastUsed(), null)

  const minute = Math.floor(Date.now() / 60_000) * 60_000
  const use = () =>
    withInstance(watched, async (instance) => {
      for (let time = 0; time < 10; time += 1) await instance.identify(sent(key))
      assert.deepEqual(valuesOf(asked, 'name'), ['keys_by_public_id'], 'nothing is written during a request')
    })
  await use()
  const used = (await lastUsed())?.getTime() ?? Number.NaN
  assert.ok(used === minute || used === minute + 60_000, new Date(used).toISOString())
  assert.equal(asked.length, 2, 'one statement for all uses')

  await sql(`update api_key set last_used_at = date_trunc('minute', now()) + interval '1 minute' where id = $1`, id)
  const written = await version()
  asked.length = 0
  await use()
  assert.deepEqual(await version(), written, 'the same minute is not written again')
})

test('uses that could not be written are written later, each key with its last one', async (t) => {
  const clock = stopClock(t)
  const [once, twice] = [await addKey(), await addKey()]
  const written: unknown[][] = []
  const held = Promise.withResolvers<never>()
  const rows: Database['rows'] = (query, values = []) => {
    if (typeof query !== 'string' || !query.includes('last_used_at')) return database.rows(query, values)
    written.push([...values])
    return written.length === 1 ? held.promise : database.rows(query, values)
  }
  await withInstance({ ...database, rows }, async (instance) => {
    for (const { key } of [once, twice]) await instance.identify(sent(key))
    clock.advance(10_000)
    await until(() => written.length === 1)
    clock.advance(1000)
    await instance.identify(sent(twice.key))
    held.reject(new Error('the disk is full'))
    await settle()
    clock.advance(6000)
  })
  const [ids, ages] = written.at(-1) ?? []
  assert.deepEqual(
    [ids, ages],
    [
      [once.id, twice.id],
      [17_000, 6000],
    ],
  )
})

test('a rotated key lives as long as the old one did, from now on', async () => {
  const old = await addKey({ expiresAt: new Date(Date.now() + 10 * hour) })
  const earlier = `- interval '9 hours'`
  await sql(
    `update api_key set created_at = created_at ${earlier}, expires_at = expires_at ${earlier} where id = $1`,
    old.id,
  )
  const began = Date.now()
  const issued = await keys.rotate(old.id, { overlapMs: 0 }, byService)
  const { expiresAt } = (await keys.list()).find(({ id }) => id === issued.id) ?? assert.fail()
  assertBetween(expiresAt, began + 9 * hour, Date.now() + 10 * hour)
})

test('rotating creates a key like the old one, which stays valid for the overlap', async () => {
  const began = Date.now()
  const expiresAt = new Date(began + 24 * hour)
  const old = await addKey({ name: 'worker', allowedModels: ['tiny'], expiresAt })
  const issued = await keys.rotate(old.id, { overlapMs: hour }, byService)
  assert.notEqual(issued.key, old.key)
  const permissions = { own: false, allowedModels: ['tiny'], limitId: undefined, sharedBudgets: undefined }
  const caller = { publicId: issued.key.slice(3, 15), keyId: issued.id, accountId, ...permissions }
  assert.deepEqual(await keys.identify(sent(issued.key)), caller)
  assert.equal(await codeOf(keys.identify(sent(old.key))), 'let in')
  const listed = await keys.list()
  const [replaced, replacing] = [old.id, issued.id].map((id) => listed.find((key) => key.id === id))
  assert.equal(replaced?.replacedBy, issued.id)
  assert.equal(replacing?.name, 'worker')
  assertBetween(replaced?.expiresAt, began + hour, Date.now() + hour)
  // The same lifetime as the old key.
  assertBetween(replacing?.expiresAt, began + 24 * hour, Date.now() + 24 * hour)
})

test("an overlap never extends a key's lifetime", async () => {
  const expiresAt = new Date(Date.now() + hour)
  const old = await addKey({ expiresAt })
  await keys.rotate(old.id, { overlapMs: 24 * hour }, byService)
  assert.deepEqual((await keys.list()).find(({ id }) => id === old.id)?.expiresAt, expiresAt)
})

test('a key given instead of its id is not echoed', async () => {
  const { key } = await addKey()
  const tries = [() => keys.revoke(key, byService), () => keys.rotate(key, { overlapMs: hour }, byService)]
  for (const attempt of tries) {
    await assert.rejects(attempt, (error) => {
      assert.ok(error instanceof Problem)
      assert.match(error.message, new RegExp(`^Give the id of the key.* begins with ${key.slice(0, 15)}: `))
      return !error.message.includes(key.slice(15))
    })
  }
})

test('only a valid key is rotated, and only once', async () => {
  const refuses = async (id: string, words: RegExp, overlapMs = hour) =>
    assert.rejects(
      keys.rotate(id, { overlapMs }, byService),
      (error) => error instanceof Problem && words.test(error.message),
    )
  const [old, revoked, expired] = [await addKey(), await addKey(), await addKey()]
  await keys.revoke(revoked.id, byService)
  await sql('update api_key set expires_at = now() where id = $1', expired.id)
  await refuses(revoked.id, /is revoked: create a new one/)
  await refuses(expired.id, /is expired: create a new one/)
  await refuses(old.id, /overlap/, -1)
  await refuses(old.id, /overlap/, Number.NaN)
  await refuses(old.id, /overlap/, 365 * 24 * hour + 1)
  await refuses('nonsense', /No key has the id "nonsense"/)
  const tries = await Promise.allSettled(
    Array.from({ length: 8 }, () => keys.rotate(old.id, { overlapMs: hour }, byService)),
  )
  assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
  const [{ made } = { made: 0n }] = await database.rows<{ made: bigint }>(
    'select count(*) as made from api_key k where exists (select from api_key o where o.id = $1 and o.replaced_by = k.id)',
    [old.id],
  )
  assert.equal(made, 1n)
})

test('revoking again changes nothing, and an unknown id is not found', async () => {
  const { id } = await addKey()
  await keys.revoke(id, byService)
  const revokedAt = async () => (await keys.list()).find((key) => key.id === id)?.revokedAt
  const first = await revokedAt()
  await keys.revoke(id, byService)
  assert.deepEqual(await revokedAt(), first)
  for (const unknown of ['01890000-0000-7000-8000-000000000000', 'x']) {
    await assert.rejects(
      keys.revoke(unknown, byService),
      (error) => error instanceof Problem && error.code === 'not_found',
    )
  }
})

const ids = async () => (await keys.list()).map(({ id }) => id)

test('an invalid key request creates no key', async () => {
  const closed = await addAccount()
  await accounts.close(closed.id, byService)
  const made = await ids()
  const wrong: [Partial<KeyRequest>, ProblemCode][] = [
    [{ name: '' }, 'invalid_field'],
    [{ allowedModels: [] }, 'invalid_field'],
    [{ expiresAt: new Date(Date.now() - 1) }, 'invalid_field'],
    [{ accountId: closed.id }, 'invalid_field'],
    [{ accountId: '01890000-0000-7000-8000-000000000000' }, 'not_found'],
    [{ accountId: 'x' }, 'not_found'],
  ]
  for (const [part, code] of wrong) assert.equal(await codeOf(addKey(part)), code, JSON.stringify(part))
  assert.deepEqual(await ids(), made)
})

test('the list covers one account or all', async () => {
  const { id: other } = await addAccount()
  const made = await addKey({ accountId: other })
  const listed = await keys.list(other)
  assert.deepEqual(valuesOf(listed, 'id'), [made.id])
  assert.equal(listed[0]?.status, 'valid')
  assert.ok((await keys.list()).length > 1)
})

test('no secret appears in the database, the log or an error', async () => {
  const { id, key } = await addKey()
  const { key: next } = await keys.rotate(id, { overlapMs: hour }, byService)
  await keys.identify(sent(key))
  const refusal = await Promise.resolve(keys.identify(sent(withWrongSecret(key)))).catch(String)
  const tables = await database.rows<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  )
  assert.ok(tables.some(({ name }) => name === 'api_key'))
  const dumps = await Promise.all(tables.map(({ name }) => database.rows(`select t::text from ${name} t`)))
  const text = JSON.stringify([dumps, logged(), refusal])
  for (const { secret, publicId } of [parseKey(key), parseKey(next)].map((parsed) => parsed ?? assert.fail())) {
    assert.ok(text.includes(publicId), 'the dump contains keys')
    for (const form of ['utf8', 'hex', 'base64'] as const) {
      assert.ok(!text.includes(Buffer.from(secret).toString(form)), form)
    }
  }
})
