import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createAccess } from '../../src/access/access.ts'
import { byService } from '../../src/access/actor.ts'
import { createAudit } from '../../src/access/audit/audit.ts'
import { openPortal } from '../../src/access/portal/portal.ts'
import type { MailMessage } from '../../src/mail/mailer.ts'
import { startTaskMail } from '../../src/overview/task-mail.ts'
import type { Database, Queryable } from '../../src/platform/database/database.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { createTestLog } from '../support/log.ts'
import { until } from '../support/until.ts'

/** Without a mail server, so that the service itself mails nothing. */
const { firm, anna, ben, paula } = openFirm()
const { log, text: logged } = createTestLog()
const portal = fixture(() => openPortal({ databaseUrl: firm.service.databaseUrl, log }))
const audit = fixture(() => createAudit({ database: firm.service.database }))
const access = fixture(() => createAccess({ portal, audit }))
const database = () => firm.service.database

const timeZone = 'Pacific/Auckland'
const [tuesday, wednesday, saturday] = ['2026-03-10', '2026-03-11', '2026-03-14']
/** A time of the firm, in ms since 1970. */
const at = (time: string, day = wednesday) =>
  Temporal.PlainDateTime.from(`${day}T${time}`).toZonedDateTime(timeZone).epochMilliseconds

/** Queues as the mailer does: what is sent in a transaction that does not commit was never there. */
async function queue(tx: Queryable, mail: MailMessage): Promise<void> {
  await tx.rows('insert into queued_mail (mail) values ($1)', [JSON.stringify(mail)])
}
const queued = () => database().rows<{ mail: MailMessage }>('select mail from queued_mail order by mail ->> $1', ['to'])

setUp(() => firm.service.database.rows('create table queued_mail (mail jsonb)'))
beforeEach(async () => {
  await database().rows('delete from queued_mail')
  await database().rows('delete from task_mail')
})

interface Instance {
  readonly send?: (tx: Queryable, mail: MailMessage) => Promise<void>
  readonly on?: Database
}

function start(now: number, { send = queue, on = database() }: Instance = {}) {
  return startTaskMail({
    database: on,
    access,
    audit,
    mailer: { send },
    mailFrom: '07:00',
    timeZone,
    log,
    clock: () => now,
    pace: 5,
  })
}

/** Turns the mail on, as on Tuesday. */
const turnOn = (...people: readonly Member[]) =>
  database().rows('insert into task_mail (person_id, settled_on) select unnest($1::uuid[]), $2', [
    people.map(({ id }) => id),
    tuesday,
  ])
const settledOn = async ({ id }: Member) =>
  (
    await database().rows<{ day: string }>('select settled_on::text as day from task_mail where person_id = $1', [id])
  )[0]?.day

/** Lets instances work at a time until the day of these people is settled. */
async function mailAt(now: number, people: readonly Member[], instances = 1): Promise<MailMessage[]> {
  const day = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone).toPlainDate().toString()
  const running = Array.from({ length: instances }, () => start(now))
  await until(async () => (await Promise.all(people.map(settledOn))).every((each) => each === day))
  await Promise.all(running.map((it) => it.close()))
  return (await queued()).map(({ mail }) => mail)
}

async function add(by: Member, client: string, task: object): Promise<string> {
  const { status, json, text } = await by.send('POST', `/clients/${client}/tasks`, task)
  assert.equal(status, 201, text)
  return `/clients/${client}/tasks/${String(json['id'])}`
}

const any = { 'if-match': '*' }

describe('the mail of tasks', () => {
  test('has the titles and days of what is overdue or due on the day, and nothing else of the record', async () => {
    const client = await firm.client(anna, 'Secret Bakery')
    await add(anna, client, { title: 'tomorrow', due: '2026-03-12' })
    await add(anna, client, { title: 'some day' })
    await add(anna, client, { title: 'now', due: wednesday })
    await add(anna, client, { title: 'late', due: '2026-03-09' })
    const done = await add(anna, client, { title: 'done', due: tuesday })
    await anna.send('PATCH', done, { status: 'done' }, any)
    await anna.send('POST', `/clients/${client}/disputes`, { invoice: 'INV-7', amount: '1', due: '2026-03-08' })
    await anna.send('POST', `/clients/${client}/disputes`, { invoice: 'tomorrow', amount: '1', due: '2026-03-12' })
    await turnOn(anna)
    const [mail, ...others] = await mailAt(at('07:00'), [anna])
    assert.deepEqual(others, [])
    assert.deepEqual(mail, {
      to: anna.email,
      onlyFor: 'record_reader',
      until: new Date(at('12:00')).toISOString(),
      template: 'due_tasks',
      values: {
        overdue: 2,
        today: 1,
        listed: [
          { title: 'Answer the dispute of INV-7', overdueSince: '8 March 2026' },
          { title: 'late', overdueSince: '9 March 2026' },
          { title: 'now', overdueSince: null },
        ],
      },
    })
    const rows = await database().rows(
      `select actor, person_id, outcome, noun from audit where action = 'task_mail_queued' and noun_id = $1`,
      [anna.id],
    )
    assert.deepEqual(rows, [{ actor: 'service', person_id: null, outcome: 'allowed', noun: 'person' }])
    assert.doesNotMatch(logged(), /late|Bakery/)
  })

  test('is queued once by three instances, and not again on that day', async () => {
    await add(ben, await firm.client(ben), { title: 'for Ben', due: wednesday })
    await add(paula, await firm.client(anna), { title: 'for Paula', due: wednesday, owner_id: paula.id })
    await turnOn(ben, paula)
    const mails = await mailAt(at('07:00'), [ben, paula], 3)
    assert.deepEqual(new Set(mails.map(({ to }) => to)), new Set([ben.email, paula.email]))
    assert.equal(mails.length, 2)
    await turnOn(anna)
    assert.equal((await mailAt(at('11:59'), [anna, ben, paula], 2)).length, 3, 'only Anna gets another one')
  })

  test('is queued by the next instance if one dies after it, and only then', async () => {
    const dora = await firm.join('Dora', 'consultant')
    await add(dora, await firm.client(dora), { title: 'for Dora', due: wednesday })
    await turnOn(dora)
    let failed = 0
    const dying = start(at('07:00'), {
      async send(tx, mail) {
        await queue(tx, mail)
        failed++
        throw new Error('the instance dies')
      },
    })
    await until(() => failed > 0)
    await dying.close()
    assert.deepEqual([await queued(), await settledOn(dora)], [[], tuesday])
    assert.equal((await mailAt(at('07:01'), [dora])).length, 1)
  })

  test('goes to nobody who did not turn it on, is disabled, has no address, or has become a developer', async () => {
    const [quiet, disabled, nameless, developer, last] = [
      await firm.join('Quiet', 'consultant'),
      await firm.join('Disabled', 'consultant'),
      await firm.join('Nameless', 'consultant'),
      await firm.join('Developer', 'consultant'),
      await firm.join('Last', 'consultant'),
    ]
    for (const each of [quiet, disabled, nameless, developer, last]) {
      await add(each, await firm.client(each), { title: 'a task', due: wednesday })
    }
    await turnOn(disabled, nameless, developer, last)
    await firm.service.people.setStatus(disabled.id, 'disabled', byService)
    await database().rows('update person set email = null, email_key = null where id = $1', [nameless.id])
    await firm.service.people.setRole(developer.id, 'developer', byService)
    assert.deepEqual(
      (await mailAt(at('08:00'), [developer, last])).map(({ to }) => to),
      [last.email],
    )
    assert.deepEqual([await settledOn(disabled), await settledOn(nameless)], [tuesday, tuesday])
  })

  test('follows a hand-over, and is not sent if nothing is due', async () => {
    const [from, to] = [await firm.join('From', 'consultant'), await firm.join('To', 'consultant')]
    await add(from, await firm.client(from), { title: 'handed over', due: wednesday })
    await paula.send('POST', `/people/${from.id}/handover`, { to: to.id })
    await turnOn(from, to)
    assert.deepEqual(
      (await mailAt(at('07:00'), [from, to])).map((mail) => mail.to),
      [to.email],
    )
  })

  for (const [when, now] of [
    ['before the time', at('06:59')],
    ['from noon on', at('12:00')],
    ['on a Saturday', at('09:00', saturday)],
  ] as const) {
    test(`is not queued ${when}`, async () => {
      const person = await firm.join(`Not ${when}`, 'consultant')
      await add(person, await firm.client(person), { title: 'a task', due: wednesday })
      await turnOn(person)
      const looks = { idle: 0, busy: 0 }
      const counting = (name: keyof typeof looks) => ({ ...database(), rows: async () => (looks[name]++, []) })
      const idle = start(now, { on: counting('idle') })
      // An instance that may work looks for people again and again.
      const busy = start(at('09:00'), { on: counting('busy') })
      await until(() => looks.busy > 1)
      await Promise.all([idle.close(), busy.close()])
      assert.equal(looks.idle, 0)
      assert.deepEqual([await queued(), await settledOn(person)], [[], tuesday])
    })
  }
})
