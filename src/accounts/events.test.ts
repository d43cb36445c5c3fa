import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTestLog } from '../../tests/support/log.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import type { Visit } from '../access/actor.ts'
import { createPrices } from '../billing/prices/prices.ts'
import { createAccounts } from './accounts.ts'
import { createKeys } from './keys/keys.ts'

const one = 10n ** 12n
const limits = { requestsPerMinute: 60, tokensPerMinute: 1000 }
const by: Visit = { actor: { kind: 'command', user: 'olga' } }
const { log } = createTestLog()

const { database } = openOwnDatabase(log)
const accounts = fixture(() => createAccounts({ database }))
const keys = fixture(() => createKeys({ database, log }))
const prices = fixture(() => createPrices({ database, log }))

const eventsOf = (id: string) =>
  database.rows<{ action: string; details: Record<string, string> | null }>(
    `select action, details from audit
     where noun_id = $1 and outcome = 'allowed' and actor = 'command' and actor_name = 'olga' order by id`,
    [id],
  )
const everything = (table: string) => database.rows(`select * from ${table} order by 1`)

describe('B94: every change is in the audit log with its actor', () => {
  test('of an account', async () => {
    const { id } = await accounts.create({ ...limits, name: 'Acme', credit: 2n * one }, by)
    await accounts.addCredit(id, -2n * one, by, 'paid back')
    await accounts.setLimits(id, { requestsPerMinute: 120, monthlyLimit: one }, by)
    await accounts.close(id, by)
    const [entry] = await accounts.listCredit(id, { limit: 1 })
    assert.deepEqual(await eventsOf(id), [
      {
        action: 'account_created',
        details: { name: 'Acme', credit: '2', requests_per_minute: '60', tokens_per_minute: '1000' },
      },
      { action: 'account_credited', details: { amount: '-2', entry: entry?.id ?? '' } },
      {
        action: 'account_limits_changed',
        details: { requests_per_minute: '60 → 120', monthly_limit: 'none → 1' },
      },
      { action: 'account_closed', details: null },
    ])
  })

  test('of a key, and never its text or its hash', async () => {
    const { id: account } = await accounts.create({ ...limits, name: 'Keys' }, by)
    const expiresAt = new Date(Date.now() + 3_600_000)
    const first = await keys.create({ accountId: account, name: 'backend', allowedModels: ['a', 'b'], expiresAt }, by)
    const next = await keys.rotate(first.id, { overlapMs: 60_000 }, by)
    const lone = await keys.create({ accountId: null, name: 'lone', allowedModels: null, expiresAt: null }, by)
    await keys.revoke(next.id, by)
    assert.deepEqual(await eventsOf(first.id), [
      {
        action: 'key_created',
        details: { name: 'backend', account, models: 'a b', expires: expiresAt.toISOString() },
      },
      { action: 'key_rotated', details: { replaced_by: next.id, overlap_seconds: '60' } },
    ])
    assert.deepEqual(await eventsOf(next.id), [{ action: 'key_revoked', details: null }])
    assert.deepEqual(await eventsOf(lone.id), [
      { action: 'key_created', details: { name: 'lone', account: 'none', models: 'all', expires: 'never' } },
    ])
    const rows = JSON.stringify(await database.rows('select action, details::text from audit'))
    for (const { key } of [first, next, lone]) {
      for (const part of key.split('_').slice(2)) assert.ok(!rows.includes(part))
    }
    const hashes = await database.rows<{ hash: string }>(`select encode(secret_hash, 'hex') as hash from api_key`)
    for (const { hash } of hashes) assert.ok(!rows.includes(hash))
  })

  test('of a price: by the actor who set it, or by the service from the configuration', async () => {
    await prices.sync(new Map([['tiny', { input: 100_000n, output: 400_000n }]]))
    await prices.sync(new Map([['tiny', { input: 100_000n, output: 400_000n }]]))
    const from = await prices.set('tiny', { input: 200_000n, output: 500_000n }, by)
    const rows = await database.rows<{ actor: string; details: Record<string, string> }>(
      `select actor, details from audit where action = 'price_set' order by id`,
    )
    assert.deepEqual(
      rows.map(({ actor, details: { model, input, output } }) => [actor, model, input, output]),
      [
        ['service', 'tiny', '0.1', '0.4'],
        ['command', 'tiny', '0.2', '0.5'],
      ],
    )
    assert.equal(rows[1]?.details['from'], from.toISOString())
  })

  test('a change without effect and a refused change are not recorded', async () => {
    const { id } = await accounts.create({ ...limits, name: 'Still' }, by)
    const key = await keys.create({ accountId: id, name: 'k', allowedModels: null, expiresAt: null }, by)
    await keys.revoke(key.id, by)
    await accounts.setLimits(id, { requestsPerMinute: 60 }, by)
    await accounts.close(id, by)
    const earlier = await everything('audit')
    await keys.revoke(key.id, by)
    await accounts.close(id, by)
    await accounts.setLimits(id, limits, by)
    await assert.rejects(accounts.create({ ...limits, name: 'STILL' }, by))
    await assert.rejects(accounts.addCredit(id, one, by))
    await assert.rejects(keys.rotate(key.id, { overlapMs: 0 }, by))
    await assert.rejects(prices.set('tiny', { input: 2n, output: 1n }, by))
    assert.deepEqual(await everything('audit'), earlier)
  })
})

test('B94: a change that cannot be recorded does not happen', async () => {
  const { id } = await accounts.create({ ...limits, name: 'Full', credit: one }, by)
  const key = await keys.create({ accountId: id, name: 'k', allowedModels: null, expiresAt: null }, by)
  await prices.sync(new Map())
  await database.rows(`create function fill() returns trigger language plpgsql as
    $$ begin raise exception 'the log is full'; end $$`)
  await database.rows('create trigger full_log before insert on audit for each statement execute function fill()')
  const tables = ['account', 'credit_entry', 'api_key', 'price']
  const earlier = await Promise.all(tables.map(everything))
  const changes: (() => Promise<unknown>)[] = [
    () => accounts.create({ ...limits, name: 'New' }, by),
    () => accounts.addCredit(id, one, by),
    () => accounts.setLimits(id, { requestsPerMinute: 1 }, by),
    () => accounts.close(id, by),
    () => keys.create({ accountId: id, name: 'n', allowedModels: null, expiresAt: null }, by),
    () => keys.rotate(key.id, { overlapMs: 0 }, by),
    () => keys.revoke(key.id, by),
    () => prices.set('tiny', { input: 1n, output: 2n }, by),
    () => prices.sync(new Map([['tiny', { input: 3n, output: 4n }]])),
  ]
  for (const change of changes) await assert.rejects(change(), /the log is full/)
  assert.deepEqual(await Promise.all(tables.map(everything)), earlier)
})
