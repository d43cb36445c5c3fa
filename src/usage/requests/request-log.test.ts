import assert from 'node:assert/strict'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { log } from '../../../tests/support/tills.ts'
import { readLog } from './request-log.ts'

const { database } = openOwnDatabase(log)

const [accountId, keyId] = [randomUUID(), randomUUID()]

const charge = (id: string, model: string) =>
  database.rows(
    `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost,
       stop_reason, usage_source)
     values (now(), $1, $2, $3, $4, 1, 1, 1, 2, 3, 'complete', 'model')`,
    [id, accountId, keyId, model],
  )

const refuse = (id: string, model: string) =>
  database.rows(
    `insert into refused_request (request_id, at, account_id, key_id, model, status, code, milliseconds)
     values ($1, now(), $2, $3, $4, 503, 'overloaded', 1)`,
    [id, accountId, keyId, model],
  )

test('a search that ends at the rows it may read shows each request once, newest first, on all pages together', async () => {
  const ids = Array.from({ length: 6 }, () => randomUUIDv7()).toSorted()
  const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = ids
  for (const id of [first, third, sixth]) await charge(id, 'wanted')
  await charge(fourth, 'other')
  for (const id of [second, fifth]) await refuse(id, 'wanted')
  const filter = { from: '2026-01-01', to: '9998-12-31', model: 'wanted' }
  const pages: string[][] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { requests, next } = await readLog(database, { filter, before: cursor, limit: 10, reach: 2 })
    pages.push(requests.map(({ requestId }) => requestId))
    cursor = next
  }
  // The ledger was read down to the fourth, so the second has to wait for the third.
  assert.deepEqual(pages, [[sixth, fifth], [third, second, first], []])
})
