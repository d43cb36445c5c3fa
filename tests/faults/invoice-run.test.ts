import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { verifyInvoices } from '../../src/invoicing/verify.ts'
import type { Queryable } from '../../src/platform/database/database.ts'
import { addManyAccounts, addUse } from '../support/many-accounts.ts'
import { openOwnDatabase } from '../support/own-database.ts'
import { isEndure } from '../support/draws.ts'
import { temporaryFolder } from '../support/fixture.ts'
import { log } from '../support/tills.ts'
import { until } from '../support/until.ts'
import { assertVerified } from '../support/verified.ts'

const main = path.join(import.meta.dirname, '../../src/main.ts')
const kills = isEndure ? 20 : 5
// A killed run bills at most two transactions of 50 accounts, so some are left for the last run.
const accountCount = kills * 50 + 100

/** Where a run is stopped and killed, in turn: each holds something that the run then waits for. */
const places: readonly ((tx: Queryable) => Promise<unknown>)[] = [
  // Reading the usage.
  (tx) => tx.rows('lock table usage_day in access exclusive mode'),
  // Creating a draft of the second transaction.
  billOne,
  // Writing an audit event.
  (tx) => tx.rows('lock table audit in share row exclusive mode'),
  // Taking a number.
  (tx) => tx.rows('lock table invoice_series in share row exclusive mode'),
  // Keeping the document, when the number is taken.
  (tx) => tx.rows('lock table invoice_issue in share row exclusive mode'),
]

function billOne(tx: Queryable): Promise<unknown> {
  return tx.rows(
    `insert into invoice (id, account_id, month, currency, decimals, net, tax, gross, taxes)
     select gen_random_uuid(), id, '2026-03-01', 'EUR', 2, 0, 0, 0, '[]' from account a
     where not exists (select from billed_month b where b.account_id = a.id) order by name limit 1 offset 70`,
  )
}

const { own, database } = openOwnDatabase(log)
const folder = temporaryFolder()

test('B103: a monthly run that is killed several times issues each invoice once', { timeout: 170_000 }, async () => {
  await writeFile(path.join(folder, 'tollgate.yaml'), '{ currency: EUR, firm: { name: Berg } }')
  await addManyAccounts(database, accountCount)
  await addUse(database, '2026-03-05')

  function start() {
    const child = spawn(process.execPath, [main, 'invoice', 'run', '--month', '2026-03', '--issue'], {
      env: { DATABASE_URL: own.url, TOLLGATE_DATA: folder, TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml') },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | number | null>()
    child.on('close', (status, signal) => resolve(signal ?? status))
    return { end: promise, kill: () => child.kill('SIGKILL') }
  }

  const here = 'select pid from pg_stat_activity where datname = current_database()'
  const isWaiting = async () =>
    (await database.rows(`select from pg_locks where not granted and pid in (${here})`)).length > 0
  const isIdle = async () => (await database.rows(`${here} and usename <> current_user`)).length === 0
  const rollBack = new Error('roll back')

  for (let kill = 0; kill < kills; kill++) {
    const held = database.transaction(async (tx) => {
      await places[kill % places.length]?.(tx)
      const run = start()
      await until(isWaiting)
      run.kill()
      assert.equal(await run.end, 'SIGKILL', `kill ${kill}`)
      throw rollBack
    })
    await assert.rejects(held, rollBack)
    // What the killed run had sent still ends one way or the other.
    await until(isIdle)
  }
  const [{ before } = assert.fail()] = await database.rows<{ before: bigint }>('select count(*) as before from invoice')
  assert.ok(before > 0n && before < BigInt(accountCount), `${before} invoices before the last run`)
  assert.equal(await start().end, 0)

  const perAccount = await database.rows('select from invoice group by account_id having count(*) = 1')
  const numbers = await database.rows<{ each: bigint }>(
    `select series_number as each from invoice where state = 'issued' order by 1`,
  )
  assert.equal(perAccount.length, accountCount)
  assert.deepEqual(
    numbers.map(({ each }) => each),
    Array.from({ length: accountCount }, (_, index) => BigInt(index + 1)),
  )
  assertVerified(await verifyInvoices(database))
})
