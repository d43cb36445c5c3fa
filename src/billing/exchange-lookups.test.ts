import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fixture } from '../../tests/support/fixture.ts'
import { mostOfOne, openTills } from '../../tests/support/tills.ts'
import type { Queryable } from '../platform/database/database.ts'
import { accountReportRow } from './till/exchange-rows.ts'

const stage = fixture(() => openTills(1))

/** The rows of `allowance` that this transaction has read. */
async function rowsRead(tx: Queryable): Promise<bigint> {
  const [row] = await tx.rows<{ read: bigint }>(
    `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as read from pg_stat_xact_user_tables
     where relname = 'allowance'`,
  )
  return row?.read ?? assert.fail()
}

const nothing = { requests_back: 0, tokens_back: 0, held: 0n, credit: 0n, requests: 0, tokens: 0 }
const wanted = { at_hand: 2, cost: 1n, need: 1, more_credit: 2n, more_requests: 2, more_tokens: 2 }
const returned = { at_hand: 0, cost: 1n, need: 1, more_credit: 0n, more_requests: 0, more_tokens: 0 }

test('a report reads the allowance of its account, not all allowances of the instance', async () => {
  const instance = randomUUID()
  const payers = await Promise.all(
    Array.from({ length: 40 }, () => stage.addAccount({ credit: 1_000_000n * mostOfOne })),
  )
  await stage.database.transaction(async (tx) => {
    await tx.rows('insert into instance (id, host) values ($1, $2)', [instance, 'test'])
    let batch = 0n
    const exchange = (of: typeof payers, what: typeof wanted) => {
      batch += 1n
      const rows = of.map(({ accountId }) => accountReportRow({ id: accountId, ...nothing, ...what }))
      const reports = `{${rows.map((row) => `"${row}"`).join(',')}}`
      return tx.rows('select * from exchange_timed($1, $2, $3::account_report[], $4)', [instance, batch, reports, '{}'])
    }
    await exchange(payers, wanted)
    const readBefore = await rowsRead(tx)
    await exchange(payers.slice(-5), wanted)
    assert.equal((await rowsRead(tx)) - readBefore, 5n)
    await exchange(payers, returned)
    await tx.rows('delete from instance where id = $1', [instance])
    await tx.rows('delete from allowance where instance_id = $1', [instance])
  })
})
