import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { log } from '../../tests/support/tills.ts'
import { valuesOf } from '../../tests/support/json.ts'
import { readLimits } from './store.ts'

const { database } = openOwnDatabase(log)

interface Spent {
  readonly credited?: number
  readonly charged?: number
  readonly held?: number
  readonly monthlyLimit?: number
  /** In the month of `month`, by default this one. */
  readonly monthCharged?: number
  readonly month?: string
}

async function addAccount(name: string, spent: Spent): Promise<string> {
  const id = randomUUIDv7()
  const { credited = 0, charged = 0, held = 0, monthlyLimit = null, monthCharged = 0, month = null } = spent
  await database.rows(
    `insert into account (id, name, requests_per_minute, tokens_per_minute, monthly_limit, credited, charged, held, month,
       month_charged, request_level, token_level)
     values ($1, $2, 60, 1000, $3, $4, $5, $6, coalesce($7, date_trunc('month', now() at time zone 'UTC')::date), $8, 0, 0)`,
    [id, name, monthlyLimit, credited, charged, held, month, monthCharged],
  )
  return id
}

test('open accounts are listed, first those of which the smallest share is left, and what is held is not left', async () => {
  await addAccount('half', { credited: 100, charged: 50 })
  await addAccount('held', { credited: 1000, charged: 100, held: 800 })
  await addAccount('monthly', { monthlyLimit: 100, charged: 500, monthCharged: 70 })
  await addAccount('last month', { monthlyLimit: 100, charged: 500, monthCharged: 90, month: '2026-01-01' })
  await addAccount('nothing', {})
  const closed = await addAccount('closed', { credited: 10, charged: 10 })
  await database.rows(`update account set status = 'closed', closed_at = now() where id = $1`, [closed])
  const limits = await readLimits(database, { most: 10 })
  assert.deepEqual(
    limits.map(({ name, creditLeft, monthCharged }) => [name, creditLeft, monthCharged]),
    [
      ['held', 100n, 0n],
      ['monthly', 30n, 70n],
      ['half', 50n, 0n],
      ['last month', 100n, 0n],
      ['nothing', 0n, 0n],
    ],
  )
  assert.deepEqual(valuesOf(await readLimits(database, { most: 2 }), 'name'), ['held', 'monthly'])
  assert.deepEqual(
    (await readLimits(database, { accountId: closed, most: 10 })).map(({ name, status }) => [name, status]),
    [['closed', 'closed']],
  )
})
