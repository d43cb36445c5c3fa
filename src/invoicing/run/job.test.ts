import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfigFolder } from '../../../tests/support/config.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { addManyAccounts, addUse } from '../../../tests/support/many-accounts.ts'
import { assertVerified } from '../../../tests/support/verified.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { refuseInvoices } from '../../../tests/support/refused-invoices.ts'
import { until } from '../../../tests/support/until.ts'
import { waitingForLocks } from '../../../tests/support/waiting-for-locks.ts'
import { createAccess } from '../../access/access.ts'
import { createAudit } from '../../access/audit/audit.ts'
import { openPortal } from '../../access/portal/portal.ts'
import { startMonthlyRun } from './job.ts'
import { claimMonth, endClaim } from './store.ts'
import { invoiceSettings } from '../settings.ts'
import { verifyInvoices } from '../verify.ts'

const { log, text } = createTestLog()
const { own, database } = openOwnDatabase(log)
const portal = fixture(() => openPortal({ databaseUrl: own.url, log }))
const audit = fixture(() => createAudit({ database }))
const access = fixture(() => createAccess({ portal, audit }))
const { load } = createConfigFolder()

function start(run: 'off' | 'draft' | 'issue', pace = 10) {
  const config = load(`{ currency: EUR, firm: { name: Berg }, invoicing: { run: ${run} } }`)
  const settings = invoiceSettings(config)
  return startMonthlyRun({
    database,
    databaseUrl: own.url,
    access,
    settings,
    run: { ...config.invoicing, run_day: 1 },
    unprintable: async () => [],
    log,
    pace,
  })
}

/** An hour ago: a month is due once it has been over for an hour. */
const lately = Temporal.Now.zonedDateTimeISO('UTC').subtract({ hours: 1 }).toPlainDate()
/** The month so many months before the one that is not due yet, such as 2026-03. */
const ago = (months: number) => lately.subtract({ months }).toPlainYearMonth().toString()
interface Run {
  readonly month: string
  readonly finished: boolean
}
const runs = () =>
  database.rows<Run>(`select month, finished_at is not null as finished from invoice_run order by month`)
const finished = (...months: number[]) => months.map((each): Run => ({ month: `${ago(each)}-01`, finished: true }))
const done = async () => (await runs()).filter((each) => each.finished).length
const noted = () =>
  database.rows(`select actor, details from audit where action = 'invoices_run' order by details ->> 'month'`)
const invoices = () => database.rows('select month, state, count(*) from invoice group by 1, 2 order by 1, 2')

const isWaiting = async () => (await waitingForLocks(database)) > 0

setUp(async () => {
  await addManyAccounts(database, 120)
  await addUse(database, `${ago(1)}-05`)
})

test('the monthly run is off by default', async () => {
  const job = start('off')
  await job.close()
  assert.deepEqual([await runs(), await invoices()], [[], []])
})

test('several instances draft the past month once', async () => {
  const jobs = [1, 2, 3].map(() => start('draft'))
  await until(async () => (await done()) === 1)
  await Promise.all(jobs.map((job) => job.close()))
  assert.deepEqual(await runs(), finished(1))
  assert.deepEqual(await invoices(), [{ month: `${ago(1)}-01`, state: 'draft', count: 120n }])
  assert.deepEqual(await noted(), [{ actor: 'service', details: { month: ago(1), drafted: '120', issued: '0' } }])
  assert.match(text(), /"done":100,"of":120/)
  assert.doesNotMatch(text(), /Account 0/)
})

test('an instance keeps its claim while it reads the usage of the month', async () => {
  assertVerified(await verifyInvoices(database))
  await database.rows('delete from invoice_run')
  const [faulty] = (await verifyInvoices(database)).filter(({ ok }) => !ok)
  assert.deepEqual(faulty?.faults, [{ month: ago(1), finished_at: null }])
  const busyUntil = async () => (await database.rows<{ at: Date }>('select busy_until as at from invoice_run'))[0]?.at
  const job = start('draft')
  await database.transaction(async (tx) => {
    await tx.rows('lock table usage_day in access exclusive mode')
    await until(isWaiting)
    const before = (await busyUntil()) ?? assert.fail()
    await until(async () => ((await busyUntil()) ?? before) > before)
  })
  await until(async () => (await done()) === 1)
  await job.close()
  assert.deepEqual(await runs(), finished(1))
})

test('months that were missed are run, in order, and one that another instance left', async () => {
  await database.rows('update invoice_run set month = $1', [`${ago(4)}-01`])
  await addUse(database, `${ago(3)}-28`)
  // An instance that died.
  assert.equal(await claimMonth(database, { day: 1, timeZone: 'UTC' }), `${ago(3)}-01`)
  const job = start('issue')
  assert.equal(await claimMonth(database, { day: 1, timeZone: 'UTC' }), undefined)
  await database.rows('update invoice_run set busy_until = clock_timestamp() where finished_at is null')
  await until(async () => (await done()) === 4)
  await job.close()
  assert.deepEqual(await runs(), finished(4, 3, 2, 1))
  assert.deepEqual(await invoices(), [
    { month: `${ago(3)}-01`, state: 'issued', count: 120n },
    { month: `${ago(1)}-01`, state: 'issued', count: 120n },
  ])
})

test('a month with an account that cannot be billed is tried again, and the log names the account', async () => {
  await database.rows('delete from invoice_run where month > $1', [`${ago(3)}-01`])
  await addUse(database, `${ago(2)}-06`)
  const before = await done()
  const allow = await refuseInvoices(database, 'Account 00003')
  const job = start('draft')
  const refusals = () => text().match(/an account was not billed/g)?.length ?? 0
  await until(() => refusals() > 1)
  assert.equal(await done(), before)
  const line =
    text()
      .split('\n')
      .find((each) => each.includes('was not billed')) ?? ''
  assert.match(line, /"account_id":"[\w-]{36}","code":"P0001","reason":"refused by a test"/)
  assert.doesNotMatch(text(), /must not leave/)
  await allow()
  await until(async () => (await done()) === before + 2)
  await job.close()
  const billed = await database.rows('select count(*) from invoice where month = $1', [`${ago(2)}-01`])
  assert.deepEqual(billed, [{ count: 120n }])
})

test('the run waits for its day, and for the end of the month in UTC', async () => {
  await database.rows('delete from invoice_run')
  const today = Temporal.Now.plainDateISO('UTC')
  const lateDay = await claimMonth(database, { day: today.day + 1, timeZone: 'UTC' })
  assert.equal(lateDay, `${today.subtract({ months: 2 }).toPlainYearMonth().toString()}-01`)
  await endClaim(database, lateDay ?? '', true)
  assert.equal(await claimMonth(database, { day: today.day + 1, timeZone: 'UTC' }), undefined)
  const due = today.month === lately.month ? `${ago(1)}-01` : undefined
  for (const timeZone of ['Pacific/Kiritimati', 'UTC']) {
    assert.equal(await claimMonth(database, { day: today.day, timeZone }), due)
    await database.rows('delete from invoice_run where finished_at is null')
  }
})
