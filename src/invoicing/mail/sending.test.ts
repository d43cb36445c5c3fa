import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { createConfigFolder } from '../../../tests/support/config.ts'
import { issueEarlier } from '../../../tests/support/issue-earlier.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { addManyAccounts } from '../../../tests/support/many-accounts.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { asSuperuser } from '../../../tests/support/superuser.ts'
import { until } from '../../../tests/support/until.ts'
import { waitingForLocks } from '../../../tests/support/waiting-for-locks.ts'
import { createAccess } from '../../access/access.ts'
import { byService } from '../../access/actor.ts'
import { createAudit } from '../../access/audit/audit.ts'
import { openPortal } from '../../access/portal/portal.ts'
import type { MailMessage } from '../../mail/mailer.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { createInvoices } from '../invoices.ts'
import { createPayerMails, startInvoiceMail } from './sending.ts'
import { endInvoiceMail, readDueReminders, takeWaitingMails } from './store.ts'
import { createInvoiceMails } from './mails.ts'
import { invoiceSettings } from '../settings.ts'

const { log, text } = createTestLog()
const { own, database } = openOwnDatabase(log)
const portal = fixture(() => openPortal({ databaseUrl: own.url, log }))
const audit = fixture(() => createAudit({ database }))
const access = fixture(() => createAccess({ portal, audit }))
const settings = invoiceSettings(createConfigFolder().load('{ currency: EUR, firm: { name: Berg } }'))
const invoices = fixture(() => createInvoices({ access, database, settings, unprintable: async () => [] }))
/** The number of an invoice that cannot be written as a PDF. */
let unwritable: string | null = null
const mails = fixture(() =>
  createInvoiceMails({
    access,
    settings,
    locale: 'en-GB',
    hasMail: true,
    pdf: async ({ number }) => {
      if (number === unwritable) throw new Problem('conflict', 'A PDF of this invoice cannot show all its characters.')
      return Buffer.from('%PDF-')
    },
  }),
)
let account: string
setUp(async () => {
  await addManyAccounts(database, 1)
  await database.rows(`update account set billing_email = 'payer@example.com'`)
  account = (await database.rows<{ id: string }>('select id from account'))[0]?.id ?? ''
})

let queued: MailMessage[] = []
beforeEach(() => {
  queued = []
})
function start(reminders: readonly number[] = []) {
  const pace = { waiting: 10, reminders: 10 }
  const mailer = { send: async (_tx: unknown, mail: MailMessage) => void queued.push(mail) }
  return startInvoiceMail({ database, timeZone: 'UTC', access, mailer, mails, reminders, log, pace })
}

/** Issued so long ago that it has been overdue for so many days. */
async function overdue(days: number): Promise<string> {
  const lines = [{ text: 'Advice', quantity: '1', unit: 'hour', unit_price: '100' } as const]
  const { id } = await invoices.create(byService, { account, lines })
  await issueEarlier(database, id, days)
  return id
}
const today = Temporal.Now.plainDateISO('UTC').toString()
const pay = (id: string) => invoices.pay(byService, id, { date: today, amount: '100' })
const sent = async (id: string) =>
  (await invoices.read(byService, id)).sent.map(({ kind, state, to, by }) => ({ kind, state, to, by }))
const reminder = (state: string) => ({ kind: 'reminder', state, to: 'payer@example.com', by: null })
const idle = () =>
  until(async () => (await database.rows(`select from invoice_mail_end where state = 'waiting'`)).length === 0)

test('a reminder that waits is not queued once its invoice is paid or credited, and one that is queued is not sent', async () => {
  const [paid, credited, open, late] = [await overdue(3), await overdue(3), await overdue(3), await overdue(3)]
  for (const id of [paid, credited, open, late]) await mails.send(byService, id, { kind: 'reminder', body: {} })
  await pay(paid)
  await invoices.issue(byService, (await invoices.credit(byService, credited, {})).id, null)
  const job = start()
  await idle()
  await job.close()
  assert.deepEqual([await sent(paid), await sent(credited)], [[reminder('withdrawn')], [reminder('withdrawn')]])
  assert.deepEqual([await sent(open), await sent(late)], [[reminder('queued')], [reminder('queued')]])
  assert.equal(queued.length, 2)

  await pay(late)
  const payerMails = createPayerMails({ database, timeZone: 'UTC' })
  const files = await Promise.all(queued.map(({ id = '' }) => payerMails.fileOf(id)))
  assert.deepEqual(
    files.map((file) => file?.name),
    [(await invoices.read(byService, open)).number + '.pdf', undefined],
  )
  await payerMails.ended(queued[0]?.id ?? '', 'sent')
  await payerMails.ended(queued[0]?.id ?? '', 'given_up')
  await payerMails.ended(queued[1]?.id ?? '', 'not_allowed')
  assert.deepEqual([await sent(open), await sent(late)], [[reminder('sent')], [reminder('withdrawn')]])
  await pay(open)
})

/** Takes the mails that wait, as an instance does, and leaves none of them to another test. */
async function takeAll(tx: Queryable): Promise<boolean[]> {
  const taken = await takeWaitingMails(tx, today, 20)
  for (const { id } of taken) await endInvoiceMail(tx, id, 'withdrawn')
  return taken.map(({ isDue }) => isDue)
}

test('a mail that one instance takes is not given to another', async () => {
  await mails.send(byService, await overdue(3), { kind: 'reminder', body: {} })
  await database.transaction(async (tx) => {
    assert.deepEqual(await takeAll(tx), [true])
    assert.deepEqual(await database.transaction(takeAll), [])
  })
})

/** Begins something while a payment of the invoice is being recorded, and records the payment once it waits or has ended. */
async function whilePaid<Result>(id: string, begin: () => Promise<Result>): Promise<PromiseSettledResult<Result>> {
  const { begun } = await database.transaction(async (tx) => {
    await tx.rows(
      `insert into invoice_payment (id, invoice_id, date, amount, method) values ($1, $2, $3, 100 * 10::numeric ^ 12, 'cash')`,
      [randomUUIDv7(), id, today],
    )
    let isOver = false
    const result = Promise.allSettled([begin()]).finally(() => (isOver = true))
    await until(async () => isOver || (await waitingForLocks(database)) > 0)
    return { begun: result }
  })
  return (await begun)[0]
}

test('a reminder waits for a payment that is being recorded, and then is not due', async () => {
  const id = await overdue(3)
  await mails.send(byService, id, { kind: 'reminder', body: {} })
  assert.deepEqual(await whilePaid(id, () => database.transaction(takeAll)), { status: 'fulfilled', value: [false] })
})

test('a reminder is refused after a payment that is being recorded', async () => {
  const id = await overdue(3)
  const asked = await whilePaid(id, () => mails.send(byService, id, { kind: 'reminder', body: {} }))
  assert.ok(asked.status === 'rejected' && asked.reason instanceof Problem && asked.reason.code === 'conflict')
  assert.deepEqual(await sent(id), [])
})

/** Makes a client the payer of the invoices, and sets the status of its dispute of each. */
async function disputeAll(ids: readonly string[], status: 'open' | 'settled'): Promise<void> {
  await asSuperuser(database, async (tx) => {
    await tx.rows(`set session_replication_role = 'replica'`)
    await tx.rows(`delete from dispute`)
    for (const id of ids) {
      await tx.rows(
        `insert into client (id, name, email, consultant_id) values ($1, 'Rye', 'payer@example.com', $1) on conflict do nothing`,
        [id],
      )
      await tx.rows(`update invoice set client_id = id, account_id = null where id = $1`, [id])
      await tx.rows(
        `insert into dispute (id, client_id, invoice, amount, status) select $1, id, ' ' || lower(number), 1, $2 from invoice where id = $3`,
        [randomUUIDv7(), status, id],
      )
    }
  })
}

test('reminders of a disputed invoice wait until the dispute is settled (B112)', async () => {
  const [asked, queuedBefore, automatic] = [await overdue(8), await overdue(8), await overdue(8)]
  const all = [asked, queuedBefore, automatic]
  await mails.send(byService, queuedBefore, { kind: 'reminder', body: {} })
  await disputeAll(all, 'open')
  const refused = { code: 'conflict', message: /disputes this invoice/ }
  await assert.rejects(mails.propose(byService, asked, 'reminder'), refused)
  await assert.rejects(mails.send(byService, asked, { kind: 'reminder', body: {} }), refused)
  const due = async () =>
    (await access.as(byService, [readDueReminders(today, [7])]))[0].map(({ id }) => id).filter((id) => all.includes(id))
  assert.deepEqual(await due(), [])
  assert.deepEqual(await database.transaction(takeAll), [false])
  const { disputes } = await invoices.read(byService, asked)
  assert.deepEqual(
    disputes.map(({ amount, status, due: day }) => ({ amount, status, day })),
    [{ amount: '0.000000000001', status: 'open', day: null }],
  )

  await disputeAll(all, 'settled')
  assert.deepEqual(await due(), [asked, automatic])
  await mails.send(byService, asked, { kind: 'reminder', body: {} })
  assert.deepEqual(await database.transaction(takeAll), [true])
  for (const id of all) await pay(id)
})

test('a dispute finds the latest of invoices whose numbers differ only in case', async () => {
  const all = [await overdue(8), await overdue(8)]
  const found = await asSuperuser(database, async (tx) => {
    await tx.rows(`set session_replication_role = 'replica'`)
    for (const [index, id] of all.entries()) {
      await tx.rows('update invoice set client_id = $1, account_id = null, number = $2 where id = $3', [
        all[0],
        ['same-1', 'SAME-1'][index],
        id,
      ])
    }
    return tx.rows(`select disputed_invoice($1, ' Same-1 ') as id`, [all[0]])
  })
  assert.deepEqual(found, [{ id: all[1] }])
  for (const id of all) await pay(id)
})

test('a reminder goes to the address of the last mail', async () => {
  const id = await overdue(3)
  for (const to of ['first@example.com', 'last@example.com']) {
    await mails.send(byService, id, { kind: 'invoice', body: { to } })
  }
  assert.equal((await mails.propose(byService, id, 'reminder')).to, 'last@example.com')
  const noted = await database.rows(`select from audit where action = 'invoice_read' and noun_id = $1`, [id])
  assert.equal(noted.length, 1)
  await mails.send(byService, id, { kind: 'reminder', body: {} })
  assert.equal((await sent(id)).at(-1)?.to, 'last@example.com')
  await database.transaction(takeAll)
})

test('automatic reminders are sent once each, by several instances, and only the last of those that are due', async () => {
  const [soon, first, second, paid] = [await overdue(6), await overdue(7), await overdue(40), await overdue(40)]
  await pay(paid)
  const byHand = await overdue(8)
  await mails.send(byService, byHand, { kind: 'reminder', body: {} })
  const early = await overdue(25)
  await mails.send(byService, early, { kind: 'reminder', body: {} })
  await asSuperuser(database, async (tx) => {
    await tx.rows(`set session_replication_role = 'replica'`)
    await tx.rows(`update invoice_mail set at = at - interval '10 days' where invoice_id = $1`, [early])
  })
  const jobs = [1, 2, 3].map(() => start([7, 21]))
  await until(() => queued.length >= 5)
  // Further looks find nothing.
  const reminders = () =>
    database.rows(
      'select invoice_id as id, reminder_days as days from invoice_mail where reminder_days is not null order by 2, 1',
    )
  await until(async () => (text().match(/reminders: sent/g) ?? []).length > 0)
  await Promise.all(jobs.map((job) => job.close()))
  const again = start([7, 21])
  await idle()
  await again.close()
  assert.deepEqual(await reminders(), [
    { id: first, days: 7 },
    { id: second, days: 21 },
    { id: early, days: 21 },
  ])
  assert.deepEqual(await sent(second), [reminder('queued')])
  assert.deepEqual([await sent(soon), await sent(paid)], [[], []])
  assert.deepEqual(await sent(byHand), [reminder('queued')], 'the one sent by hand is enough')
  assert.deepEqual(
    await sent(early),
    [reminder('queued'), reminder('queued')],
    'one sent by hand before that day is not',
  )
  assert.equal(queued.length, 5)
  const noted = await database.rows(`select actor from audit where action = 'invoice_reminded' and noun_id = $1`, [
    second,
  ])
  assert.deepEqual(noted, [{ actor: 'service' }])
})

test('an invoice that cannot be written holds up no reminder of another', async () => {
  const [first, other] = [await overdue(30), await overdue(30)]
  unwritable = (await invoices.read(byService, first)).number
  const job = start([7])
  await until(async () => (await sent(other)).some(({ state }) => state === 'queued'))
  await job.close()
  unwritable = null
  assert.deepEqual(await sent(first), [])
})

test('without an address, no reminder is sent', async () => {
  await database.rows('update account set billing_email = null')
  const [without, other] = [await overdue(30), await overdue(30)]
  await mails.send(byService, other, { kind: 'invoice', body: { to: 'other@example.com' } })
  const before = text().length
  const job = start([7])
  await until(async () => (await sent(other)).length === 2)
  await job.close()
  assert.deepEqual(await sent(without), [])
  assert.doesNotMatch(text().slice(before), /not sent/, 'nor tried')
})
