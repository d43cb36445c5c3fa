import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { batchLine, createBatch } from '../support/batches.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { createGate } from '../support/gate.ts'
import { objectAt, valuesOf, type Json } from '../support/json.ts'
import { upstreamModel, type Customer } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

let paula: Member
const vendor = fixture(() => startVendor())
const firm = fixture(() => startFirm({ models: [upstreamModel(vendor.url)], limits: { batch_in_flight: 3 } }))
setUp(async () => {
  paula = await firm.join('Paula', 'partner')
})

const rowsOf = ({ json }: { readonly json: Json }): Json[] => {
  const list = json['batches']
  return Array.isArray(list) ? list.map((_, place) => objectAt(json, 'batches', place)) : assert.fail()
}

const addressOf = ({ accountId }: Customer) => `/accounts/${accountId}/batches`

/** A batch of five lines of which the vendor keeps two waiting: as many as an account runs at a time. */
async function beginFive(customer: Customer) {
  const gate = createGate()
  vendor.set({ gate: gate.pass })
  const lines = ['secret-a', 'b', 'c', 'd', 'e'].map((name) => batchLine(name))
  const { id } = await createBatch(firm.service, customer.key, lines)
  await until(async () => (await firm.service.books(customer.accountId)).holds === 2)
  const release = (): void => {
    vendor.set({})
    gate.open()
  }
  return { id, release }
}

/** The batch once it has ended. */
async function ended(customer: Customer): Promise<Json> {
  let row: Json = {}
  await until(async () => {
    row = rowsOf(await paula.get(addressOf(customer)))[0] ?? {}
    return row['ended_at'] !== null
  })
  return row
}

const eventsOf = ({ accountId }: Customer, action: string) =>
  firm.service.database.rows<{ person_id: string; details: object }>(
    `select person_id, details from audit where noun = 'account' and noun_id = $1 and action = $2 and outcome = 'allowed'`,
    [accountId, action],
  )

/** Batches that have ended. Returns their ids, as callers have them. */
async function addEnded({ accountId, keyId }: Customer, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUIDv7()).toSorted()
  for (const id of ids) {
    await firm.service.database.rows(
      `insert into batch (id, account_id, key_id, dialect, endpoint, status, lines, succeeded, expires_at, kept, ended_at)
       values ($1, $2, $3, 'anthropic', '/v1/messages', 'completed', 4, 4, now(), '1 day', now())`,
      [id, accountId, keyId],
    )
  }
  return ids.map((id) => `msgbatch_${id.replaceAll('-', '')}`)
}

describe('the batches of an account', () => {
  test('show how far they are, and a partner cancels one, once', async () => {
    const customer = await firm.service.customer()
    const { id, release } = await beginFive(customer)
    const address = addressOf(customer)
    const reply = await paula.get(address)
    const [row, ...others] = rowsOf(reply)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [row?.['batch_id'], row?.['dialect'], row?.['status'], row?.['lines'], row?.['succeeded'], row?.['ended_at']],
      [id, 'openai', 'in_progress', 5, 0, null],
    )
    assert.doesNotMatch(reply.text, /secret|lines\.jsonl/)

    const cancelled = await paula.send('POST', `${address}/${id}/cancel`)
    assert.deepEqual([cancelled.status, cancelled.json['status']], [200, 'cancelling'])
    const again = await paula.send('POST', `${address}/${id}/cancel`)
    assert.deepEqual([again.status, again.json['status']], [200, 'cancelling'])
    release()
    const { status, lines, succeeded, failed, results_until: kept } = await ended(customer)
    assert.deepEqual([status, lines, succeeded, failed, typeof kept], ['cancelled', 5, 2, 0, 'string'])
    assert.equal((await firm.service.books(customer.accountId)).rows.length, 2)
    const late = await paula.send('POST', `${address}/${id}/cancel`)
    assert.deepEqual([late.status, late.error['code']], [409, 'conflict'])
    assert.deepEqual(await eventsOf(customer, 'account_batch_cancelled'), [
      { person_id: paula.id, details: { batch: id } },
    ])
    // A page that looks again is recorded once.
    assert.equal((await eventsOf(customer, 'account_batches_listed')).length, 1)
  })

  test('are read page by page, the newest first, without those that still arrive', async () => {
    const customer = await firm.service.customer()
    const ids = await addEnded(customer, 3)
    await firm.service.database.rows(
      `insert into batch (id, account_id, key_id, dialect, endpoint, expires_at, kept) values ($1, $2, $3, 'openai', '/v1/responses', now(), '1 day')`,
      [randomUUIDv7(), customer.accountId, customer.keyId],
    )
    const first = await paula.get(`${addressOf(customer)}?limit=2`)
    assert.deepEqual(valuesOf(rowsOf(first), 'batch_id'), [ids[2], ids[1]])
    const second = await paula.get(`${addressOf(customer)}?limit=2&cursor=${String(first.json['next'])}`)
    assert.deepEqual([valuesOf(rowsOf(second), 'batch_id'), second.json['next']], [[ids[0]], null])
    const wrong = await paula.get(`${addressOf(customer)}?cursor=x`)
    assert.deepEqual([wrong.status, wrong.error['field']], [400, 'cursor'])
  })

  test('are those of this account alone, also for a developer', async () => {
    const [granted, foreign] = [await firm.service.customer(), await firm.service.customer()]
    const [own] = await addEnded(granted, 1)
    const [other] = await addEnded(foreign, 1)
    const dora = await firm.join('Dora', 'developer')
    await paula.send('POST', `/people/${dora.id}/accounts`, { account: granted.accountId })
    assert.deepEqual(rowsOf(await dora.get(addressOf(granted))), rowsOf(await paula.get(addressOf(granted))))
    assert.deepEqual(valuesOf(rowsOf(await dora.get(addressOf(granted))), 'batch_id'), [own])
    assert.equal((await dora.get(addressOf(foreign))).status, 403)
    assert.equal((await paula.send('POST', `${addressOf(granted)}/${other}/cancel`)).status, 404)
    assert.equal((await dora.send('POST', `${addressOf(granted)}/${own}/cancel`)).status, 403)
  })
})
