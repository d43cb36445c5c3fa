import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { fixture } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { log } from '../../tests/support/tills.ts'
import { until } from '../../tests/support/until.ts'
import { waitingForLocks } from '../../tests/support/waiting-for-locks.ts'
import { openDatabase, type Queryable } from '../platform/database/database.ts'

// Two calls at once: the first holds its locks in an open transaction while the second runs.

const { own: home, database } = openOwnDatabase(log)
const other = fixture(() => openDatabase(home.url, { log, statementTimeout: 60_000 }))

async function addInstance(): Promise<string> {
  const id = randomUUIDv7()
  await database.rows('insert into instance (id, host) values ($1, $2)', [id, 'test'])
  return id
}

/** Accounts with 1000 tokens a minute, in the order of their ids. */
async function addAccounts(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUIDv7())
  await database.rows(
    `insert into account (id, name, requests_per_minute, tokens_per_minute, monthly_limit, request_level, token_level)
     select id, id, 1000, 1000, 1000000, 1000 * 60000000::bigint, 1000 * 60000000::bigint from unnest($1::uuid[]) id`,
    [ids],
  )
  return ids.toSorted()
}

const call = (on: Queryable, instance: string, batch: number, accounts: readonly string[], tokens = 600) =>
  on.rows<{ outcome: string }>('select outcome from till($1, $2, $3, $4)', [
    instance,
    batch,
    '[]',
    JSON.stringify(
      accounts.map((account) => ({
        hold: randomUUIDv7(),
        account,
        key: randomUUIDv7(),
        model: 'm',
        input: 0,
        output: tokens,
        input_price: 0,
        output_price: 1,
        requests: 1,
      })),
    ),
  ])

/** A report that requests nothing and returns nothing. */
const exchange = (on: Queryable, instance: string, batch: number, accounts: readonly string[], charged = 0) =>
  on.rows('select id, granted from exchange($1, $2, $3, $4)', [
    instance,
    batch,
    accounts.map((account) => `(${account},${charged},0,0,0,0,0,0,0,0,0,0,0,0)`),
    accounts.flatMap((account) =>
      charged === 0
        ? []
        : [`(${randomUUIDv7()},${account},${randomUUIDv7()},,m,,0,${charged},0,1,${charged},complete,model,0,0)`],
    ),
  ])

const columns = async (account: string) => {
  const [row] = await database.rows<{ held: bigint; month_charged: bigint; level: bigint }>(
    'select held, month_charged, token_level / 60000000 as level from account where id = $1',
    [account],
  )
  return row ?? assert.fail()
}

const isWaiting = async () => (await waitingForLocks(database)) > 0

/** Runs `second` on another connection while the transaction of `first` is open, and commits once `second` waits. */
async function during<T>(first: (tx: Queryable) => Promise<unknown>, second: () => Promise<T>): Promise<T> {
  let running: Promise<T> | undefined
  await database.transaction(async (tx) => {
    await first(tx)
    let done = false
    running = second().finally(() => (done = true))
    running.catch(() => undefined)
    await until(async () => done || (await isWaiting()))
  })
  assert.ok(running)
  return running
}

test('till() waits for another till(), so that no limit is exceeded', async () => {
  const [account = ''] = await addAccounts(1)
  const [one, two] = [await addInstance(), await addInstance()]
  const rows = await during(
    (tx) => call(tx, one, 1, [account]),
    () => call(other, two, 1, [account]),
  )
  assert.deepEqual(rows, [{ outcome: 'tokens' }])
  assert.equal((await columns(account)).held, 600n)
})

test('till() waits for exchange(), and exchange() for till(): neither overwrites what the other changed', async () => {
  const [account = ''] = await addAccounts(1)
  const [one, two] = [await addInstance(), await addInstance()]
  await during(
    (tx) => call(tx, one, 1, [account]),
    () => exchange(other, two, 1, [account], 5),
  )
  const after600 = await columns(account)
  assert.ok(after600.level < 500n, `${after600.level} tokens remain of 400`)
  assert.deepEqual([after600.held, after600.month_charged], [600n, 5n])
  const rows = await during(
    (tx) => exchange(tx, two, 2, [account], 999_300),
    () => call(other, one, 2, [account], 300),
  )
  assert.deepEqual(rows, [{ outcome: 'credit_held' }])
  assert.equal((await columns(account)).month_charged, 999_305n)
})

test('exchange() waits for another exchange(), so that no charge is lost', async () => {
  const [account = ''] = await addAccounts(1)
  const [one, two] = [await addInstance(), await addInstance()]
  await during(
    (tx) => exchange(tx, one, 1, [account], 7),
    () => exchange(other, two, 1, [account], 5),
  )
  assert.equal((await columns(account)).month_charged, 12n)
})

for (const name of ['till', 'exchange', 'reap'] as const) {
  test(`${name}() locks its accounts in id order, so that no two calls deadlock`, async () => {
    const [first = '', ...others] = await addAccounts(6)
    const [instance, dead] = [await addInstance(), await addInstance()]
    await call(database, dead, 1, [first, ...others].toReversed(), 1)
    const run = {
      till: () => call(other, instance, 1, [...others, first], 1),
      exchange: () => exchange(other, instance, 1, [...others, first]),
      reap: () => other.rows('select reap($1, 1)', [dead]),
    }
    let waiting: Promise<unknown> | undefined
    await database.transaction(async (tx) => {
      await tx.rows('select from account where id = $1 for update', [first])
      waiting = run[name]()
      waiting.catch(() => undefined)
      await until(isWaiting)
      // Fails at once if the call has locked one of them.
      await tx.rows('select from account where id = any($1) for update nowait', [others])
    })
    await waiting
  })
}

test('an instance in the middle of a call is not reaped, nor one that another instance reaps', async () => {
  const [account = ''] = await addAccounts(1)
  const instance = await addInstance()
  await call(database, instance, 1, [account], 10)
  const reap = () => other.rows<{ reaped: boolean }>('select reap($1, 1) as reaped', [instance])
  assert.deepEqual(await during((tx) => call(tx, instance, 2, [account], 10), reap), [{ reaped: false }])
  assert.equal((await columns(account)).held, 20n)
  const reapAgain = () => other.rows('select reap($1, 2) as reaped', [instance])
  assert.deepEqual(await during((tx) => tx.rows('select reap($1, 2)', [instance]), reapAgain), [{ reaped: false }])
  assert.equal((await columns(account)).held, 0n)
})

test('a batch that arrives twice, or late, is refused', async () => {
  const [account = ''] = await addAccounts(1)
  const instance = await addInstance()
  await assert.rejects(
    during(
      (tx) => call(tx, instance, 2, [account], 10),
      () => call(other, instance, 2, [account], 10),
    ),
    { code: 'TG001' },
  )
  await assert.rejects(exchange(other, instance, 1, [account]), { code: 'TG001' })
  assert.equal((await columns(account)).held, 10n)
})
