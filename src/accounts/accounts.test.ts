import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { byService } from '../access/actor.ts'
import { pino } from 'pino'
import { createTill } from '../billing/till/postgres-till.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { tamper } from '../../tests/support/tamper.ts'
import { Problem, type ProblemCode } from '../platform/problems.ts'
import { createAccounts, type NewAccount } from './accounts.ts'

const one = 10n ** 12n
const acme: NewAccount = { name: 'Acme', requestsPerMinute: 60, tokensPerMinute: 1000 }

const { database } = openOwnDatabase()
const accounts = fixture(() => createAccounts({ database }))
beforeEach(() => tamper(database, 'truncate account cascade'))

function refused(code: ProblemCode, words: RegExp) {
  return (error: unknown) => error instanceof Problem && error.code === code && words.test(error.message)
}

const entries = (id: string) =>
  database.rows<{ amount: bigint; note: string }>(
    'select amount, note from credit_entry where account_id = $1 order by at',
    [id],
  )

test('a prepaid account starts with its credit, one credit entry, and full buckets', async () => {
  const account = await accounts.create({ ...acme, name: '  Acme ', credit: 25n * one }, byService)
  assert.match(account.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.equal(account.name, 'Acme')
  assert.equal(account.status, 'open')
  assert.equal(account.monthlyLimit, null)
  assert.equal(account.creditLeft, 25n * one)
  assert.deepEqual(await entries(account.id), [{ amount: 25n * one, note: 'opening credit' }])
  const [levels] = await database.rows('select request_level, token_level from account where id = $1', [account.id])
  assert.deepEqual(levels, { request_level: 60n * 60_000_000n, token_level: 1000n * 60_000_000n })
})

test('the largest allowed limits are stored', async () => {
  const most = 2 ** 31 - 1
  const { id } = await accounts.create({ ...acme, requestsPerMinute: most, tokensPerMinute: most }, byService)
  assert.equal((await accounts.setLimits(id, { requestsPerMinute: most }, byService)).requestsPerMinute, most)
})

test('a postpaid account may spend its monthly limit', async () => {
  const account = await accounts.create({ ...acme, monthlyLimit: 100n * one }, byService)
  assert.equal(account.monthlyLimit, 100n * one)
  assert.equal(account.creditLeft, 100n * one)
  assert.deepEqual(await entries(account.id), [])
})

test('without credit or limit, an account is prepaid with no credit', async () => {
  const account = await accounts.create(acme, byService)
  assert.equal(account.monthlyLimit, null)
  assert.equal(account.creditLeft, 0n)
  assert.deepEqual(await entries(account.id), [])
})

test('an invalid account is refused and nothing is stored', async () => {
  const wrong: [Partial<NewAccount>, RegExp][] = [
    [{ name: ' ' }, /Give a name/],
    [{ name: 'x'.repeat(201) }, /shorter name/],
    [{ name: 'a\0b' }, /U\+0000/],
    [{ name: 'a\ud800' }, /an unpaired surrogate/],
    [{ requestsPerMinute: 0 }, /requests_per_minute must be a whole number/],
    [{ requestsPerMinute: 1.5 }, /requests_per_minute/],
    [{ tokensPerMinute: 2 ** 31 }, /tokens_per_minute/],
    [{ tokensPerMinute: Number.NaN }, /tokens_per_minute/],
    [{ credit: -1n }, /must not be negative/],
    [{ monthlyLimit: -1n }, /must not be negative/],
    [{ credit: 1n, monthlyLimit: 1n }, /Choose one/],
  ]
  for (const [part, words] of wrong) {
    await assert.rejects(
      accounts.create({ ...acme, ...part }, byService),
      refused('invalid_field', words),
      String(words),
    )
  }
  assert.deepEqual(await accounts.list(), [])
})

test('each addition and withdrawal of credit writes an entry', async () => {
  const { id } = await accounts.create({ ...acme, credit: 10n * one }, byService)
  assert.equal((await accounts.addCredit(id, 5n * one, byService, 'invoice 7')).creditLeft, 15n * one)
  assert.equal((await accounts.addCredit(id, -15n * one, byService)).creditLeft, 0n)
  assert.deepEqual(
    (await entries(id)).map(({ amount, note }) => [amount, note]),
    [
      [10n * one, 'opening credit'],
      [5n * one, 'invoice 7'],
      [-15n * one, ''],
    ],
  )
})

test('spent or held credit cannot be withdrawn', async () => {
  const { id } = await accounts.create({ ...acme, credit: 10n * one }, byService)
  await database.rows('update account set charged = $2, held = $3 where id = $1', [id, 4n * one, one])
  await assert.rejects(
    accounts.addCredit(id, -5n * one - 1n, byService),
    refused('invalid_field', /At most 5 .*hold 1\)/),
  )
  await assert.rejects(accounts.addCredit(id, 0n, byService), refused('invalid_field', /must not be 0/))
  await assert.rejects(
    accounts.addCredit(id, 10n ** 38n - 10n * one, byService),
    refused('invalid_field', /exceed the largest amount/),
  )
  await assert.rejects(
    accounts.addCredit(id, one, byService, 'n'.repeat(1001)),
    refused('invalid_field', /at most 1000/),
  )
  assert.equal((await entries(id)).length, 1, 'a refused amount leaves no entry')
  assert.equal((await accounts.addCredit(id, -5n * one, byService)).creditLeft, 0n)
})

test('concurrent withdrawals never take more than the credit', async () => {
  const { id } = await accounts.create({ ...acme, credit: 3n * one + 1n }, byService)
  const takes = await Promise.allSettled(Array.from({ length: 12 }, () => accounts.addCredit(id, -one, byService)))
  assert.equal(takes.filter(({ status }) => status === 'fulfilled').length, 3)
  assert.equal((await accounts.show(id)).creditLeft, 1n)
  assert.equal((await entries(id)).length, 4)
})

test('no credit is added to a postpaid or a closed account', async () => {
  const monthly = await accounts.create({ ...acme, monthlyLimit: one }, byService)
  await assert.rejects(accounts.addCredit(monthly.id, one, byService), refused('invalid_field', /monthly limit/))
  const closed = await accounts.create({ ...acme, name: 'Closed', credit: one }, byService)
  await accounts.close(closed.id, byService)
  await assert.rejects(accounts.addCredit(closed.id, one, byService), refused('invalid_field', /closed/))
  assert.equal((await accounts.addCredit(closed.id, -one, byService)).creditLeft, 0n, 'the rest can be withdrawn')
})

test('A29: a changed limit applies to the next call, and the bucket never exceeds it', async () => {
  const till = await createTill({ database, log: pino({ level: 'silent' }) })
  const { id } = await accounts.create(acme, byService)
  const lower = await accounts.setLimits(id, { requestsPerMinute: 6, tokensPerMinute: 100 }, byService)
  assert.deepEqual([lower.requestsPerMinute, lower.tokensPerMinute], [6, 100])
  const remaining = async () => {
    const levels = await till.levels({ accountId: id, keyId: id })
    return [levels?.requests.remaining, levels?.tokens.remaining]
  }
  assert.deepEqual(await remaining(), [6, 100])
  await accounts.setLimits(id, { requestsPerMinute: 6000 }, byService)
  const [requests = 0] = await remaining()
  assert.ok(requests >= 6 && requests < 6000, `${requests}: the higher limit fills the bucket as time passes`)
  await till.drain()
})

test('changing one limit changes nothing else', async () => {
  const made = await accounts.create({ ...acme, monthlyLimit: one }, byService)
  const changed = await accounts.setLimits(made.id, { monthlyLimit: 2n * one }, byService)
  assert.deepEqual(changed, { ...made, monthlyLimit: 2n * one, creditLeft: 2n * one })
  await assert.rejects(
    accounts.setLimits(made.id, { tokensPerMinute: 0 }, byService),
    refused('invalid_field', /tokens_per_minute/),
  )
  assert.deepEqual(await accounts.show(made.id), changed)
})

test('a prepaid account gets a monthly limit only when its credit is used up', async () => {
  const { id } = await accounts.create({ ...acme, credit: one }, byService)
  await assert.rejects(
    accounts.setLimits(id, { monthlyLimit: one }, byService),
    refused('invalid_field', /prepaid and has 1 unspent/),
  )
  await accounts.addCredit(id, -one, byService)
  assert.equal((await accounts.setLimits(id, { monthlyLimit: 7n }, byService)).creditLeft, 7n)
})

test('a prepaid account gets no monthly limit while requests in flight hold its last credit', async () => {
  const { id } = await accounts.create({ ...acme, credit: one }, byService)
  await database.rows('update account set held = $2 where id = $1', [id, one])
  assert.equal((await accounts.show(id)).creditLeft, 0n)
  await assert.rejects(
    accounts.setLimits(id, { monthlyLimit: one }, byService),
    refused('invalid_field', /prepaid and has 1 unspent/),
  )
  await database.rows('update account set held = 0, charged = credited where id = $1', [id])
  assert.equal((await accounts.setLimits(id, { monthlyLimit: one }, byService)).monthlyLimit, one)
})

test('charges of last month do not count this month', async () => {
  const { id } = await accounts.create({ ...acme, monthlyLimit: 10n * one }, byService)
  await database.rows(`update account set charged = $2, month_charged = $2 where id = $1`, [id, 4n * one])
  assert.equal((await accounts.show(id)).creditLeft, 6n * one)
  await database.rows(`update account set month = month - interval '1 month' where id = $1`, [id])
  const turned = await accounts.show(id)
  assert.deepEqual([turned.creditLeft, turned.monthCharged], [10n * one, 0n])
})

test('credit left is 0, not less, when a limit goes below what was spent', async () => {
  const { id } = await accounts.create({ ...acme, monthlyLimit: 10n * one }, byService)
  await database.rows(`update account set charged = $2, month_charged = $2 where id = $1`, [id, 4n * one])
  assert.equal((await accounts.setLimits(id, { monthlyLimit: one }, byService)).creditLeft, 0n)
})

test('closing is final', async () => {
  const { id } = await accounts.create(acme, byService)
  const closed = await accounts.close(id, byService)
  assert.equal(closed.status, 'closed')
  assert.ok(closed.closedAt)
  assert.deepEqual(await accounts.close(id, byService), closed)
})

test('an account is found by id, or by its name in any case', async () => {
  const first = await accounts.create(acme, byService)
  const other = await accounts.create({ ...acme, name: 'Beta' }, byService)
  assert.deepEqual(await accounts.find('Acme'), first)
  assert.deepEqual(await accounts.find(other.id.toUpperCase()), other)
  assert.deepEqual(await accounts.list(), [first, other])
  assert.deepEqual(await accounts.find('aCME'), first)
})

test('no two accounts have the same name, in any case, however many are created at once', async () => {
  const names = ['Müller', 'MÜLLER', 'Mu\u0308ller', 'müller', ' Müller ']
  const tries = await Promise.allSettled(
    names.map((name) => accounts.create({ ...acme, name, credit: one }, byService)),
  )
  const reasons = tries.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  assert.equal(reasons.length, 4)
  for (const reason of reasons) {
    assert.ok(reason instanceof Problem)
    assert.deepEqual([reason.code, reason.details.field], ['conflict', 'name'])
    assert.match(reason.message, /^Another account is named "/)
  }
  const [rows] = await database.rows<{ accounts: bigint; entries: bigint; events: bigint }>(
    `select (select count(*) from account) as accounts, (select count(*) from credit_entry) as entries,
       (select count(*) from audit where action = 'account_created'
         and noun_id in (select id from account)) as events`,
  )
  assert.deepEqual(rows, { accounts: 1n, entries: 1n, events: 1n })
})

test('an unknown or malformed id is not found', async () => {
  const nobody = '01890000-0000-7000-8000-000000000000'
  for (const id of [nobody, 'x', '', `${nobody}'`]) {
    await assert.rejects(accounts.show(id), refused('not_found', /No account/))
    await assert.rejects(accounts.find(id), refused('not_found', /No account/))
    await assert.rejects(accounts.addCredit(id, one, byService), refused('not_found', /No account/))
    await assert.rejects(
      accounts.setLimits(id, { requestsPerMinute: 1 }, byService),
      refused('not_found', /No account/),
    )
    await assert.rejects(accounts.close(id, byService), refused('not_found', /No account/))
  }
})
