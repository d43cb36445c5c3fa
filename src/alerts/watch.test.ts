import assert from 'node:assert/strict'
import { createHmac, randomUUIDv7 } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { createTestDatabase } from '../../tests/support/database.ts'
import { at, objectAt } from '../../tests/support/json.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { startMailServer } from '../../tests/support/mail-server.ts'
import { fixture, setUp } from '../../tests/support/fixture.ts'
import { serve } from '../../tests/support/server.ts'
import { until } from '../../tests/support/until.ts'
import { byService } from '../access/actor.ts'
import { createAudit } from '../access/audit/audit.ts'
import { createAccounts, type Accounts, type NewAccount } from '../accounts/accounts.ts'
import { createBudgets } from '../accounts/budgets/budgets.ts'
import { openMailer, type OpenMailer } from '../mail/open.ts'
import { openDatabase } from '../platform/database/database.ts'
import { createEncryption } from '../platform/encryption/encryption.ts'
import { createAlerts, type Alerts } from './alerts.ts'
import type { FindAddresses } from '../platform/network/networks.ts'
import { addReached, finishTry, takeDue } from './store.ts'
import { startAlerts } from './watch.ts'

interface Hook {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const key = Buffer.alloc(32, 7)
const encryption = createEncryption(key)
const allowedNetworks = ['127.0.0.1']

let mailer: OpenMailer | undefined
let accounts: Accounts
let alerts: Alerts
const receiver = fixture(() => serve((request, reply) => void receive(request, reply)))
let address: string
let hooks: Hook[]
let statuses: number[]
let open: { close(): Promise<void> }[] = []

async function receive(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const body = await readText(request)
  hooks.push({ headers: request.headers, body })
  reply.writeHead(statuses.shift() ?? 204, { location: '/elsewhere' }).end()
}

const fresh = fixture(() => createTestDatabase())
const log = fixture(() => createTestLog())
const database = fixture(() => openDatabase(fresh.url, { log: log.log }))
const audit = fixture(() => createAudit({ database }))
const mailServer = fixture(() => startMailServer())
setUp(async () => {
  mailer = await openMailer({
    config: {
      mail: { url: mailServer.url, from: 'Tollgate <tollgate@firm.example>' },
      firm: {},
      base_url: 'https://tollgate.test',
    },
    encryption,
    databaseUrl: fresh.url,
    audit,
    log: log.log,
    recipientOf: async (to) => to,
    pace: { lookEvery: 20, firstPause: 1, superviseEvery: 1 },
  })
  accounts = createAccounts({ database })
  alerts = createAlerts({ database, accounts, encryption, hasMail: true, allowedNetworks })
  address = `${receiver.url}/hook/vvv-path-vvv`
})
beforeEach(() => {
  hooks = []
  statuses = []
})
afterEach(async () => {
  await stopAll()
  await database.rows('delete from alert_attempt')
  await database.rows('delete from alert')
  await database.rows('delete from batch_alert')
  await database.rows('delete from alert_rule')
})
after(() => mailer?.close())

/** One instance. It looks, and tries again, sooner than in production. */
function start(find?: FindAddresses): void {
  open.push(
    startAlerts({
      database,
      log: log.log,
      mailer,
      encryption,
      currency: 'EUR',
      allowedNetworks,
      ...(find && { find }),
      pace: { look: 10, firstPause: 1 },
    }),
  )
}
async function stopAll(): Promise<void> {
  await Promise.all(open.map((it) => it.close()))
  open = []
}

async function account(limits: Partial<NewAccount> = { credit: 100n }): Promise<string> {
  const created = { name: randomUUIDv7(), requestsPerMinute: 60, tokensPerMinute: 1000, ...limits }
  return (await accounts.create(created, byService)).id
}
const spend = (id: string, cost: number) =>
  database.rows('update account set charged = charged + $2, month_charged = month_charged + $2 where id = $1', [
    id,
    cost,
  ])
async function hook(id: string, shares: readonly number[] = [50, 80], webhook = address): Promise<string> {
  const { secret } = await alerts.create(id, { shares, webhook }, byService)
  return secret ?? assert.fail()
}
const shares = () => hooks.map(({ body }) => at(JSON.parse(body), 'share'))
const pending = () => database.rows('select from alert where ended is null')
/** Waits until the instances have looked again and sent what was due. The second of two tests follows a complete look. */
async function settled(id: string): Promise<void> {
  const [rule] = await alerts.list(id)
  for (let n = 0; n < 2; n++) {
    await alerts.test(id, rule?.id ?? '', byService)
    await until(async () => (await pending()).length === 0)
  }
  hooks = hooks.filter(({ body }) => !body.includes('"test"'))
}
const outcomes = async (id: string) => (await alerts.attempts(id)).map(({ outcome, error }) => [outcome, error])

describe('an alert', () => {
  test('A40: is sent once by two instances, signed, and not again after a restart', async () => {
    const id = await account()
    const secret = await hook(id)
    start()
    start()
    await spend(id, 49)
    await settled(id)
    assert.deepEqual(shares(), [])
    await spend(id, 1)
    await until(async () => hooks.length > 0)
    await settled(id)
    assert.deepEqual(shares(), [50])
    await stopAll()
    start()
    await spend(id, 5)
    await settled(id)
    assert.deepEqual(shares(), [50])

    const { headers, body } = hooks[0] ?? assert.fail()
    const [, time, code] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['tollgate-signature'])) ?? []
    assert.equal(code, createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'))
    const { id: delivery, created_at: created, account: about, ...rest } = objectAt(JSON.parse(body))
    assert.equal(headers['tollgate-id'], delivery)
    assert.equal(headers['content-type'], 'application/json')
    assert.ok(!Number.isNaN(Date.parse(String(created))))
    assert.deepEqual(about, { id, name: (await accounts.show(id)).name })
    const amounts = { used: '0.00000000005', of: '0.0000000001', currency: 'EUR' }
    assert.deepEqual(rest, { type: 'account.share_reached', share: 50, ...amounts })
  })

  test('is sent for the highest of its own shares, and again after new credit', async () => {
    const id = await account()
    await hook(id)
    await hook(id, [50])
    await spend(id, 90)
    start()
    await until(async () => hooks.length > 1)
    await settled(id)
    assert.deepEqual(shares().map(String).toSorted(), ['50', '80'])
    await accounts.addCredit(id, 90n, byService)
    await spend(id, 49)
    await settled(id)
    assert.deepEqual(shares().map(String).toSorted(), ['50', '80'])
    await spend(id, 1)
    await until(async () => hooks.length > 3)
    await settled(id)
    assert.deepEqual(shares().map(String).toSorted(), ['50', '50', '50', '80'])
  })

  test('is sent for a share of this month’s limit, not of a past one', async () => {
    const id = await account({ monthlyLimit: 100n })
    await hook(id)
    await database.rows(`update account set month = month - interval '1 month', month_charged = 100 where id = $1`, [
      id,
    ])
    start()
    await settled(id)
    assert.deepEqual(shares(), [])
    await database.rows(
      `update account set month = date_trunc('month', now() at time zone 'UTC')::date, month_charged = 80 where id = $1`,
      [id],
    )
    await until(async () => hooks.length > 0)
    await settled(id)
    assert.deepEqual(shares(), [80])
  })

  test('is sent for a share of a budget, hard or soft, once in each of its periods and for each limit', async () => {
    const id = await account({ credit: 10_000n })
    await hook(id)
    const budgets = createBudgets({ database, timeZone: 'UTC' })
    const tag = { name: 'project', value: 'Apollo' }
    const made = { accountId: id, name: 'Apollo', tag, period: 'total', hard: false, amount: 100n } as const
    const budget = await budgets.create(made, byService)
    await budgets.create({ ...made, name: 'Other', amount: 0n }, byService)
    const charge = (change: string) => database.rows(`update budget set ${change} where id = $1`, [budget.id])
    start()
    await charge('charged = 79')
    await until(async () => hooks.length > 0)
    await settled(id)
    await charge('charged = 80')
    await until(async () => hooks.length > 1)
    await settled(id)
    const { id: _, created_at: __, account: ___, ...rest } = objectAt(JSON.parse(hooks[1]?.body ?? ''))
    assert.deepEqual(rest, {
      type: 'budget.share_reached',
      budget: { id: budget.id, name: 'Apollo' },
      share: 80,
      used: '0.00000000008',
      of: '0.0000000001',
      currency: 'EUR',
    })
    const tomorrow = new Date(Date.now() + 86_400_000)
    await budgets.raise({ accountId: id, id: budget.id }, { by: 100n, until: tomorrow }, byService)
    await charge('charged = 100')
    await until(async () => hooks.length > 2)
    await charge(`began_at = now() - interval '2 days', ends_at = now() - interval '1 day', charged = 200`)
    await settled(id)
    assert.deepEqual(shares(), [50, 80, 50], 'not in a period that has ended')
    assert.ok((await alerts.attempts(id)).some((each) => each.budget === 'Apollo' && each.share === 80))
    await database.rows('delete from budget')
    await database.rows('update account set has_budgets = false')
  })

  test('is not sent for a closed account, nor after its removal', async () => {
    const [id, other] = [await account(), await account()]
    for (const each of [id, other]) await hook(each)
    const [removed] = await alerts.list(other)
    await alerts.remove(other, removed?.id ?? '', byService)
    for (const each of [id, other]) await spend(each, 90)
    await accounts.close(id, byService)
    start()
    await settled(id)
    assert.deepEqual(shares(), [])
  })

  test('stays given up if it is removed while it is being sent', async () => {
    const id = await account()
    await hook(id)
    const [rule] = await alerts.list(id)
    await alerts.test(id, rule?.id ?? '', byService)
    const [taken] = await takeDue(database, 1)
    await alerts.remove(id, rule?.id ?? '', byService)
    assert.equal(await finishTry(database, taken?.id ?? '', { outcome: 'failed', error: '500' }, 0), false)
    assert.deepEqual([await pending(), await outcomes(id)], [[], []])
  })

  test('is sent for the end of a batch, also if the batch is gone by then', async () => {
    const id = await account()
    await hook(id, [50])
    const batch = { dialect: 'openai', status: 'expired', lines: 3, succeeded: 1, failed: 1 }
    await database.rows(
      `insert into alert (rule_id, period, used, of, batch) select id, 'batch', 0, 0, $1 from alert_rule`,
      [JSON.stringify({ ...batch, id: '0199c3b8-8d1e-7c4a-9f30-62b1d5e7a048' })],
    )
    start()
    await until(async () => hooks.length > 0)
    await settled(id)
    const [sent, ...more] = hooks
    const { id: _, created_at: __, account: about, ...rest } = objectAt(JSON.parse(sent?.body ?? ''))
    assert.deepEqual(about, { id, name: (await accounts.show(id)).name })
    assert.deepEqual(rest, { type: 'batch.ended', batch: { id: 'batch_0199c3b88d1e7c4a9f3062b1d5e7a048', ...batch } })
    assert.deepEqual(more, [])
  })

  test('about batches goes to webhooks only', async () => {
    const id = await account()
    const mail = { shares: [50], email: 'paula@example.com' }
    const refused = { code: 'invalid_field', details: { field: 'batches' } }
    await assert.rejects(alerts.create(id, { ...mail, batches: true }, byService), refused)
    const { rule } = await alerts.create(id, mail, byService)
    await assert.rejects(alerts.change(id, rule.id, { shares: [50], batches: true }, byService), refused)
    assert.deepEqual(
      (await alerts.list(id)).map(({ batches }) => batches),
      [false],
    )
  })

  test('goes by mail, once', async () => {
    const id = await account()
    await alerts.create(id, { shares: [80], email: 'paula@example.com' }, byService)
    await spend(id, 80)
    start()
    start()
    const [mail, ...more] = await mailServer.received(1)
    assert.deepEqual(more, [])
    assert.deepEqual(mail?.to, ['paula@example.com'])
    assert.match(mail?.subject ?? '', /has used 80 %$/)
    assert.match(mail?.text ?? '', /has used 0\.00000000008 of 0\.0000000001 EUR, at least 80 %\./)
    assert.match(mail?.text ?? '', new RegExp(`https://tollgate.test/accounts/${id}`))
    assert.deepEqual(await outcomes(id), [['queued', null]])
  })

  test('is tried again after a refusal, a redirect and a refused connection, with the same id', async () => {
    const id = await account()
    await hook(id, [50])
    statuses = [500, 302]
    await spend(id, 50)
    start()
    await until(async () => hooks.length === 3)
    await until(async () => (await outcomes(id)).length === 3)
    assert.deepEqual(await outcomes(id), [
      ['sent', null],
      ['failed', '302'],
      ['failed', '500'],
    ])
    assert.equal(new Set(hooks.map(({ headers }) => headers['tollgate-id'])).size, 1)
    assert.equal(new Set(hooks.map(({ body }) => body)).size, 1)

    const refused = await account()
    await hook(refused, [50], 'http://127.0.0.1:9/')
    await spend(refused, 50)
    await until(async () => (await outcomes(refused)).length > 1)
    for (const outcome of await outcomes(refused)) assert.deepEqual(outcome, ['failed', 'ECONNREFUSED'])
  })

  test('that an instance had taken before it died is sent by another a minute later', async () => {
    const id = await account()
    await hook(id, [50])
    await spend(id, 50)
    await addReached(database)
    assert.deepEqual([(await takeDue(database, 5)).length, (await takeDue(database, 5)).length], [1, 0])
    await database.rows(`update alert set next_at = next_at - interval '1 minute'`)
    start()
    await until(async () => (await outcomes(id)).length === 1)
    assert.deepEqual([await outcomes(id), shares()], [[['sent', null]], [50]])
  })

  test('is given up after a day, and at once when it is removed', async () => {
    const id = await account()
    await hook(id, [50], 'http://127.0.0.1:9/')
    await spend(id, 50)
    start()
    await until(async () => (await outcomes(id)).length > 0)
    await database.rows(`update alert set created_at = now() - interval '23 hours', next_at = now()`)
    // The first of two more tries may have begun before.
    const tried = (await outcomes(id)).length
    await until(async () => (await outcomes(id)).length > tried + 1)
    assert.ok((await outcomes(id)).every(([outcome]) => outcome === 'failed'))
    await database.rows(`update alert set created_at = now() - interval '25 hours', next_at = now()`)
    await until(async () => (await outcomes(id))[0]?.[0] === 'given_up')
    const other = await account()
    await hook(other, [50], 'http://127.0.0.1:9/')
    await spend(other, 50)
    await until(async () => (await outcomes(other)).length > 0)
    await alerts.remove(other, (await alerts.list(other))[0]?.id ?? '', byService)
    assert.deepEqual(await pending(), [])
    await spend(other, 50)
    assert.deepEqual(await alerts.list(other), [])
  })

  test('never goes to an address inside the network, even if its name changes its address', async () => {
    const id = await account()
    const elsewhere = createAlerts({
      database,
      accounts,
      encryption,
      hasMail: false,
      allowedNetworks: ['127.0.0.1'],
    })
    const { port } = new URL(address)
    await elsewhere.create(id, { shares: [50], webhook: `https://rebinding.invalid:${port}/` }, byService)
    await spend(id, 50)
    // The second address is refused although the first one is allowed.
    start(async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ])
    await until(async () => (await outcomes(id)).length > 0)
    assert.deepEqual((await outcomes(id))[0], ['failed', 'forbidden_network'])
    assert.deepEqual(hooks, [])
  })

  test('leaves no secret and no path of a webhook in the log, the audit log and the database', async () => {
    const id = await account()
    const secret = await hook(id)
    await spend(id, 50)
    start()
    await until(async () => hooks.length > 0)
    await stopAll()
    const audited = JSON.stringify(await database.rows(`select action, details from audit where noun_id = $1`, [id]))
    assert.match(audited, /account_alert_created/)
    const stored = JSON.stringify(await database.rows(`select encode(secret, 'escape') as text from alert_rule`))
    const listed = JSON.stringify([await alerts.list(id), await alerts.attempts(id)])
    for (const text of [log.text(), audited, stored, listed]) assert.ok(!text.includes(secret))
    for (const text of [log.text(), audited]) assert.ok(!text.includes('vvv-path-vvv'))
  })
})
