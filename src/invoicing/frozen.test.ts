import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { openDatabase, type Queryable } from '../platform/database/database.ts'
import { byService } from '../access/actor.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { log } from '../../tests/support/tills.ts'
import { verifyInvoices } from './verify.ts'

const { own, database } = openOwnDatabase(log)
const account = fixture(() =>
  createAccounts({ database }).create({ name: 'Acme', requestsPerMinute: 60, tokensPerMinute: 1000 }, byService),
)

const head = {
  kind: 'invoice',
  currency: 'EUR',
  decimals: 2,
  note: '',
  net: '0',
  tax: '0',
  gross: '0',
  taxes: [{ category: 'O', rate: 0, reason: 'None', net: '0', tax: '0' }],
}
const line = {
  position: 1,
  source: 'fee',
  text: 'Advice',
  quantity: '1',
  unit: 'hour',
  unit_price: '0',
  exact: '0',
  net: '0',
  tax_category: 'O',
  tax_rate: 0,
  tax_reason: 'None',
}

/** Writes as the owner of the database, which the functions of the portal do not need. */
const asOwner = <T>(work: (tx: Queryable) => Promise<T>) =>
  database.transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.actor', 'service', true)`)
    return work(tx)
  })

async function draft(tx: Queryable, further: object = {}): Promise<string> {
  const id = randomUUIDv7()
  const [made] = await tx.rows('select create_invoice($1, $2, $3, null, null) as outcome', [
    id,
    JSON.stringify({ ...head, account_id: account.id, ...further }),
    JSON.stringify([line]),
  ])
  assert.deepEqual(made, { outcome: 'created' })
  return id
}

async function issue(tx: Queryable, id: string): Promise<void> {
  const [done] = await tx.rows(
    `select issue_invoice($1, 1, 'INV-{number}', 4, '2026-03-12', '2026-04-11', '{}', null, null) as outcome`,
    [id],
  )
  assert.deepEqual(done, { outcome: 'issued' })
}

const faults = async () => (await verifyInvoices(database)).filter(({ ok }) => !ok)

const refused = (statement: string, values: readonly unknown[] = []) =>
  assert.rejects(database.rows(statement, values), { code: '42501' }, statement)

describe('numbers', () => {
  test('50 invoices issued at the same time, a fifth of them rolled back: consecutive and unique', async () => {
    const ids = await asOwner((tx) => Promise.all(Array.from({ length: 50 }, () => draft(tx))))
    // The last waits for all others, which may take long on a busy machine.
    const patient = openDatabase(own.url, { log, statementTimeout: 0 })
    const connections = await Promise.all(ids.map(() => patient.connect()))
    const outcomes = await Promise.all(
      connections.map(async (connection, index) => {
        await connection.rows('begin')
        await connection.rows(`select set_config('tollgate.actor', 'service', true)`)
        await issue(connection, ids[index] ?? '')
        const isKept = index % 5 > 0
        await connection.rows(isKept ? 'commit' : 'rollback')
        await connection.close()
        return isKept
      }),
    )
    await patient.close()
    const issued = await database.rows<{ number: string }>(
      `select number from invoice where state = 'issued' order by series_number`,
    )
    assert.equal(outcomes.filter(Boolean).length, 40)
    assert.deepEqual(
      issued.map(({ number }) => number),
      Array.from({ length: 40 }, (_, index) => `INV-${String(index + 1).padStart(4, '0')}`),
    )
    assert.deepEqual(await database.rows('select name, last from invoice_series'), [
      { name: 'INV-{number}', last: 40n },
    ])
    assert.deepEqual(await faults(), [])
  })

  test('have more digits once they need them', async () => {
    const id = await asOwner((tx) => draft(tx))
    await asOwner((tx) =>
      tx.rows(
        `select issue_invoice($1, 1, 'R{number}/x', 1, '2026-03-12', '2026-03-12', '{}', null, null) from
           (select count(*) from generate_series(1, 1)) n`,
        [id],
      ),
    )
    assert.deepEqual(await database.rows('select number from invoice where id = $1', [id]), [{ number: 'R1/x' }])
  })
})

test('a draft of another version is neither changed, issued nor void', async () => {
  const id = await asOwner((tx) => draft(tx))
  for (const call of [
    `change_invoice($1, 2, '{}', '[]', null, null)`,
    `void_invoice($1, 2, null, null)`,
    `issue_invoice($1, 2, 'INV-{number}', 4, '2026-03-12', '2026-04-11', '{}', null, null)`,
  ]) {
    assert.deepEqual(await asOwner((tx) => tx.rows(`select ${call} as outcome`, [id])), [{ outcome: 'stale' }])
  }
  assert.deepEqual(await database.rows('select state, version from invoice where id = $1', [id]), [
    { state: 'draft', version: 1 },
  ])
})

describe('B104: what is issued is frozen, for the owner of the database too', () => {
  test('an invoice, its lines, payments, number and month', async () => {
    const id = await asOwner(async (tx) => {
      const made = await draft(tx, { month: '2026-02-01' })
      await issue(tx, made)
      return made
    })
    const before = await database.rows('select * from invoice where id = $1', [id])
    await refused(`update invoice set note = 'other' where id = $1`, [id])
    await refused(`update invoice set state = 'draft' where id = $1`, [id])
    await refused('update invoice set gross = gross where id = $1', [id])
    await refused('delete from invoice where id = $1', [id])
    await refused(`update invoice_line set text = 'other' where invoice_id = $1`, [id])
    await refused('delete from invoice_line where invoice_id = $1', [id])
    await refused(
      'insert into invoice_line select ($1::uuid), 2, source, text, quantity, unit, unit_price, exact, net, tax_category, tax_rate, tax_reason from invoice_line where invoice_id = $1',
      [id],
    )
    await refused('update invoice_issue set document = document')
    await refused('delete from invoice_issue')
    await refused('update invoice_payment set amount = 1')
    await refused('delete from invoice_payment')
    await refused('update invoice_series set last = last + 2')
    await refused('update invoice_series set last = last - 1')
    await refused('delete from invoice_series')
    await refused(`insert into invoice_series (name, last) values ('X{number}', 5)`)
    await refused('update billed_month set month = month')
    await refused('delete from billed_month where invoice_id = $1', [id])
    for (const table of [
      'invoice',
      'invoice_line',
      'invoice_issue',
      'invoice_payment',
      'invoice_series',
      'billed_month',
    ]) {
      await refused(`truncate ${table} cascade`)
    }
    assert.deepEqual(await database.rows('select * from invoice where id = $1', [id]), before)
    assert.deepEqual(await faults(), [])
  })

  test('a void draft, and what a draft bills', async () => {
    const [gone, open] = await asOwner(async (tx) => {
      const ids = [await draft(tx), await draft(tx)] as const
      await tx.rows('select void_invoice($1, 1, null, null)', [ids[0]])
      return ids
    })
    await refused(`update invoice set state = 'draft' where id = $1`, [gone])
    await refused('delete from invoice_line where invoice_id = $1', [gone])
    await refused(`update invoice set currency = 'USD' where id = $1`, [open])
    await refused('delete from invoice where id = $1', [open])
    await refused('update invoice_line set net = net where invoice_id = $1', [open])
  })

  test('a line is not written while its invoice is issued', async () => {
    const id = await asOwner((tx) => draft(tx))
    const [issuing, writing] = [await database.connect(), await database.connect()]
    await issuing.rows('begin')
    await issuing.rows(`select set_config('tollgate.actor', 'service', true)`)
    await issue(issuing, id)
    const late = assert.rejects(writing.rows('delete from invoice_line where invoice_id = $1', [id]), { code: '42501' })
    await issuing.rows('commit')
    await late
    await Promise.all([issuing.close(), writing.close()])
    assert.deepEqual(await faults(), [])
  })

  test('an invoice that was never issued is none', async () => {
    const id = await asOwner((tx) => draft(tx))
    await assert.rejects(database.rows(`update invoice set state = 'issued', number = 'X-1' where id = $1`, [id]), {
      code: '23514',
    })
  })
})
