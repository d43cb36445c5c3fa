import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addManyAccounts } from '../../../tests/support/many-accounts.ts'
import { setUp } from '../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { refuseInvoices } from '../../../tests/support/refused-invoices.ts'
import { log } from '../../../tests/support/tills.ts'
import { until } from '../../../tests/support/until.ts'
import { assertVerified } from '../../../tests/support/verified.ts'
import { waitingForLocks } from '../../../tests/support/waiting-for-locks.ts'
import { createAccess } from '../../access/access.ts'
import { createAudit } from '../../access/audit/audit.ts'
import { openPortal } from '../../access/portal/portal.ts'
import { charactersWithoutFont } from '../../documents/pdf/pdf-text.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Tax } from '../arithmetic.ts'
import { isVatId } from '../../platform/text/country.ts'
import { billMonth } from './monthly-run.ts'
import type { InvoiceSettings } from '../settings.ts'
import { verifyInvoices } from '../verify.ts'

const { own, database } = openOwnDatabase(log)
const accounts = 120
setUp(async () => {
  await addManyAccounts(database, accounts)
  await database.rows(
    `insert into price (model, input, output, valid_from, source)
     select 'fast', 100000 + n, 200000 + n, date '2026-01-10' + n * interval '1 month', 'command' from generate_series(0, 5) n`,
  )
})

const seller = { name: 'Firm', address: [], email: null, phone: null, website: null, bank: null, locale: 'en' }
const settings: InvoiceSettings = {
  currency: 'EUR',
  decimals: 2,
  numbers: { invoice: 'INV-{number}', credit_note: 'CN-{number}' },
  dueDays: 14,
  timeZone: 'UTC',
  locale: 'en-GB',
  taxes: new Map([['standard', { category: 'S', rate: 1900, reason: null }]]),
  markup: 0,
  seller: undefined,
}

/** Two requests of each account, before and after the price changes. No two accounts have the same usage. */
async function addUsage(month: string): Promise<void> {
  await database.rows('select ledger_partitions($1, $1)', [`${month}-01`])
  await database.rows(
    `with used as (
       select k.account_id, k.id as key_id, row_number() over (order by a.name) as n from api_key k join account a on a.id = k.account_id),
     charged as (
       insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price,
         cost, stop_reason, usage_source)
       select $1::date + day * interval '1 day', gen_random_uuid(), account_id, key_id, 'fast', n + day, 2 * n, p.input, p.output,
         (n + day) * p.input + 2 * n * p.output, 'complete', 'model'
       from used, unnest(array[4, 20]) day, lateral (select * from price where model = 'fast'
         and valid_from <= $1::date + day * interval '1 day' order by valid_from desc limit 1) p
       returning *)
     insert into usage_day (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost)
     select at::date, account_id, key_id, model, 1, input_tokens, output_tokens, cost from charged`,
    [`${month}-01`],
  )
}

const operator = { actor: { kind: 'command', user: 'ops' } } as const

/** Bills the month with its own connections. Returns the SQL that read the usage, the progress, and who was refused or left. */
async function bill(month: string, failures: Error[] = [], issuing?: Partial<InvoiceSettings>) {
  const asked: string[] = []
  const usage: Queryable = {
    rows: (query, values) => {
      asked.push(typeof query === 'string' ? query : query.text)
      return database.rows(query, values)
    },
  }
  const portal = await openPortal({ databaseUrl: own.url, log })
  const audit = createAudit({ database })
  const real = createAccess({ portal, audit })
  const as: typeof real.as = (...work) => {
    const failure = failures.shift()
    return failure ? Promise.reject(failure) : real.as(...work)
  }
  const access = { ...real, as }
  const progress: string[] = []
  const refused: string[] = []
  const unissued: string[] = []
  try {
    for await (const { invoices, refused: failed, left, done, of } of billMonth(operator, {
      access,
      database: usage,
      settings: { ...settings, ...issuing },
      month,
      issue: issuing !== undefined,
      unprintable: async (texts) => charactersWithoutFont(texts),
    })) {
      progress.push(`${invoices.map(({ name }) => name).join()} ${done}/${of}`)
      refused.push(...failed.map(({ name, error }) => `${name}: ${error.message}`))
      unissued.push(...left.map(({ name, reasons }) => `${name}: ${reasons.join(' ')}`))
    }
  } finally {
    await portal.close()
    await audit.close()
  }
  return { asked, progress, refused, unissued }
}

const isWaiting = async () => (await waitingForLocks(database)) > 0

/** How often each table of invoices was read as a whole, and looked up, so far. */
const reads = () =>
  database.rows<{ table: string; whole: bigint; found: bigint }>(
    `select relname as table, seq_scan as whole, coalesce(idx_scan, 0) as found from pg_stat_user_tables
     where relname in ('invoice', 'billed_month') order by 1`,
  )

const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `Account ${String(from + index + 1).padStart(5, '0')}`).join()

test('the first run reads the ledger once and no table of invoices as a whole', async () => {
  await addUsage('2026-03')
  const before = await reads()
  const { asked, progress } = await bill('2026-03')
  assert.equal(asked.filter((text) => /\bledger\b/.test(text)).length, 1)
  assert.deepEqual(progress, [`${names(0, 50)} 50/120`, `${names(50, 100)} 100/120`, `${names(100, 120)} 120/120`])
  // A connection reports what it did when it ends.
  await until(async () => (await reads()).every(({ found }, index) => found > (before[index]?.found ?? 0n)))
  assert.deepEqual(
    (await reads()).map(({ table, whole }) => ({ table, whole })),
    before.map(({ table, whole }) => ({ table, whole })),
  )
})

test('each account is billed for its own usage at each price, with one audit event', async () => {
  const wrong = await database.rows(
    `with used as (
       select account_id, model, t.direction, t.price, sum(t.tokens) as tokens from ledger cross join lateral (values
         ('input', input_price, input_tokens), ('output', output_price, output_tokens)) t(direction, price, tokens)
       group by 1, 2, 3, 4),
     billed as (
       select i.account_id, l.model, l.direction, l.unit_price as price, l.quantity as tokens, l.position
       from invoice i join invoice_line l on l.invoice_id = i.id)
     select * from used full join billed using (account_id, model, direction, price, tokens)
     where used.account_id is null or billed.account_id is null`,
  )
  assert.deepEqual(wrong, [])
  const lines = await database.rows<{ count: bigint }>('select count(*) from invoice_line')
  assert.deepEqual(lines, [{ count: BigInt(4 * accounts) }])
  assertVerified(await verifyInvoices(database))
  const noted = await database.rows(
    `select a.actor, a.outcome, a.noun, a.details, count(distinct i.id) as invoices, count(*) as events
     from audit a join invoice i on i.id = a.noun_id where a.action = 'invoice_created' group by 1, 2, 3, 4`,
  )
  const count = BigInt(accounts)
  const event = { actor: 'command', outcome: 'allowed', noun: 'invoice', details: { kind: 'invoice' } }
  assert.deepEqual(noted, [{ ...event, invoices: count, events: count }])
})

test('requests are admitted and charged while accounts are being billed', async () => {
  await addUsage('2026-04')
  let billing: ReturnType<typeof bill> | undefined
  await database.transaction(async (tx) => {
    // The run waits for it in its last statements: by then it has written invoices.
    await tx.rows('lock table audit in share row exclusive mode')
    billing = bill('2026-04')
    await until(isWaiting)
    // As the till locks them.
    const locked = await tx.rows('select from account order by id for no key update nowait')
    assert.equal(locked.length, accounts)
  })
  assert.equal((await billing)?.progress.length, 3)
})

test('a deadlock with another run is tried again', async () => {
  await addUsage('2026-02')
  const failures = [Object.assign(new Error('deadlock detected'), { code: '40P01' })]
  const { progress, refused } = await bill('2026-02', failures)
  assert.deepEqual([failures, refused, progress.length], [[], [], 3])
})

test('an account that another run bills meanwhile is left out, without its lines and its audit event', async () => {
  await addUsage('2026-05')
  let billing: ReturnType<typeof bill> | undefined
  await database.transaction(async (tx) => {
    await tx.rows(
      `insert into invoice (id, account_id, month, currency, decimals, net, tax, gross, taxes)
       select gen_random_uuid(), id, '2026-05-01', 'EUR', 2, 0, 0, 0, '[]' from account where name = 'Account 00007'`,
    )
    billing = bill('2026-05')
    await until(isWaiting)
  })
  const { progress = [] } = (await billing) ?? {}
  assert.equal(progress.length, 3)
  assert.doesNotMatch(progress.join(), /Account 00007/)
  const orphans = `select count(*) from invoice i where i.month = '2026-05-01' and
    (select count(*) from invoice_line l where l.invoice_id = i.id) = 0`
  assert.deepEqual(await database.rows(orphans), [{ count: 1n }])
  const noted = `select count(*) from audit a join invoice i on i.id = a.noun_id and i.month = '2026-05-01'`
  assert.deepEqual(await database.rows(noted), [{ count: BigInt(accounts - 1) }])
})

test('an account whose invoice the database refuses is named, and billed once nothing is wrong with it', async () => {
  await addUsage('2026-06')
  const notes = async () => (await database.rows(`select from audit where action = 'invoices_run'`)).length
  const before = await notes()
  const allow = await refuseInvoices(database, 'Account 00057', '22003')
  const refused = ['Account 00057: refused by a test']
  const first = await bill('2026-06')
  assert.deepEqual(first.refused, refused)
  assert.deepEqual(first.progress, [
    `${names(0, 50)} 50/120`,
    `${names(50, 56)},${names(57, 100)} 100/120`,
    `${names(100, 120)} 120/120`,
  ])
  const second = await bill('2026-06')
  assert.deepEqual([second.progress, second.refused], [[' 1/1'], refused])
  // A run without a result is not recorded: the job repeats it every minute.
  assert.equal(await notes(), before + 1)
  await allow()
  const third = await bill('2026-06')
  assert.deepEqual([third.progress, third.refused], [['Account 00057 1/1'], []])
  const billed = await database.rows(`select count(distinct account_id) from invoice where month = '2026-06-01'`)
  assert.deepEqual(billed, [{ count: BigInt(accounts) }])
})

test('a database that fails for another reason ends the run', async () => {
  await addUsage('2026-07')
  const allow = await refuseInvoices(database, 'Account 00057', '57014')
  await assert.rejects(bill('2026-07'), /temporarily unavailable/)
  await allow()
  assert.equal((await bill('2026-07')).progress.at(-1)?.endsWith(' 70/70'), true)
})

test('an invoice whose tax needs VAT numbers is issued exactly if it could be issued by itself', async () => {
  for (const month of ['2026-08', '2026-09']) await addUsage(month)
  const numbers = ['DE123456789', 'EL 123', 'GR1', 'ZZ123', 'de123', 'DE', 'DEABC', 'DE1a', 'XK12', 'CHE-123.456', '']
  await database.rows(
    `update account a set billing_tax_number = nullif(t.number, '') from unnest($1::text[]) with ordinality t (number, n)
     where a.name = 'Account ' || lpad(t.n::text, 5, '0')`,
    [numbers],
  )
  const issuedIn = async (month: string, category: Tax['category'], taxNumber: string | null) => {
    const taxes = new Map([['none', { category, rate: 0, reason: 'None.' }]])
    const { unissued } = await bill(month, [], { taxes, seller: { ...seller, tax_number: taxNumber } })
    const states = await database.rows(`select from invoice where month = $1 and state = 'draft'`, [`${month}-01`])
    assert.equal(unissued.length, states.length)
    for (const each of unissued) assert.match(each, /^Account \d{5}: .*require the VAT number of the (?:buyer|firm)/)
    const rows = await database.rows<{ number: string }>(
      `select a.billing_tax_number as number from invoice i join account a on a.id = i.account_id
       where i.month = $1 and i.state = 'issued' and a.billing_tax_number is not null order by a.name`,
      [`${month}-01`],
    )
    return rows.map(({ number }) => number)
  }
  assert.deepEqual(await issuedIn('2026-08', 'AE', null), numbers.filter(isVatId))
  assert.deepEqual(await issuedIn('2026-09', 'K', 'no VAT number'), [])
})

test('a draft that no PDF could show is not issued, and the result says why', async () => {
  for (const month of ['2026-01', '2026-10']) await addUsage(month)
  const name = 'Account 00120 \u{13000}'
  await database.rows(`update account set name = $1 where name = 'Account 00120'`, [name])
  await database.rows(`update account set billing_address = $1 where name = 'Account 00001'`, ['Nile Street \u{13001}'])
  const issuing = { seller: { ...seller, tax_number: null } }
  // One month is issued as it is drafted, the other later.
  await bill('2026-01')
  for (const month of ['2026-01', '2026-10']) {
    const { refused, unissued } = await bill(month, [], issuing)
    const why =
      'A PDF cannot show some of its characters: no font has them. Its page names them when you issue it there.'
    assert.deepEqual([refused, unissued], [[], [`Account 00001: ${why}`, `${name}: ${why}`]])
    const [row] = await database.rows(
      `select count(*) filter (where i.state = 'issued') as issued,
         string_agg(a.name, ', ' order by a.name) filter (where i.state = 'draft' and i.number is null) as drafts
       from invoice i join account a on a.id = i.account_id where i.month = $1`,
      [`${month}-01`],
    )
    assert.deepEqual(row, { issued: BigInt(accounts - 2), drafts: `Account 00001, ${name}` })
  }
})
