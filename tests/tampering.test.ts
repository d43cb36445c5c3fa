import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, test } from 'node:test'
import { byService } from '../src/access/actor.ts'
import { verifyAll, type VerificationOptions } from '../src/commands/verification.ts'
import type { VerifyCheck } from '../src/platform/verify-checks.ts'
import { openDatabase, type Database } from '../src/platform/database/database.ts'
import { parseSeals, type SealLine } from '../src/platform/seals/seal-line.ts'
import { createTestDatabase, patience } from './support/database.ts'
import { isEndure } from './support/draws.ts'
import { fillClient } from './support/erasable.ts'
import { startFirm, type Firm } from './support/firm.ts'
import { fixture, setUp } from './support/fixture.ts'
import { addPastUsage } from './support/past-usage.ts'
import { upstreamModel } from './support/service.ts'
import { asSuperuser } from './support/superuser.ts'
import { sealAll, whileTampered } from './support/tamper.ts'
import { log } from './support/tills.ts'
import { until } from './support/until.ts'
import { startVendor } from './support/vendor.ts'

// A35: each change is made in a transaction on one database that has everything and is in order, as a superuser could make it.

interface Tampering {
  readonly name: string
  readonly sql: string
  /** A query for the text that some finding must contain: the row at fault. It runs before the change. */
  readonly names: string
  /** Whether it takes the seals that were kept outside of the database to find it. */
  readonly needsSeals?: true
}

let kept: readonly SealLine[]

const original = fixture(() => createTestDatabase())
setUp(async () => {
  kept = await fill(original.url)
})
const filled = fixture(() => openDatabase(original.url, { log, ...patience }))

/** Runs a service, then stops it. Returns the last seals. */
async function fill(databaseUrl: string): Promise<SealLine[]> {
  const vendor = await startVendor()
  const drafting = { account: 'Portal', model: 'fast' }
  const retention = { erasure_after: '0d' }
  const models = [upstreamModel(vendor.url)]
  const firm = await startFirm({ databaseUrl, models, drafting, retention, firm: { name: 'Firm' } })
  const { service } = firm
  const database = openDatabase(databaseUrl, { log })
  const [acme, beta] = [await service.customer({ credit: 10n ** 13n }), await service.customer({ credit: 10n ** 13n })]
  const call = { model: 'fast', input: 'Hello', max_output_tokens: 100 }
  for (const { key } of [acme, acme, acme, beta, beta])
    assert.equal((await service.call('/v1/generate', key, call)).status, 200)
  assert.equal((await service.call('/v1/generate', acme.key, call, { 'idempotency-key': 'once' })).status, 200)
  await service.accounts.addCredit(acme.accountId, 10n ** 12n, byService, 'top-up')
  await sealAll(database)
  const anna = await firm.join('Anna', 'consultant')
  const client = await firm.client(anna, 'Berg')
  const note = await anna.send('POST', `/clients/${client}/notes`, { date: '2026-03-12', text: 'first' })
  const address = `/clients/${client}/notes/${String(note.json['id'])}`
  assert.equal((await anna.send('PATCH', address, { text: 'second' }, { 'if-match': '"1"' })).status, 200)
  const dispute = { invoice: 'R-1', amount: '12.50', position: 'none' }
  assert.equal((await anna.send('POST', `/clients/${client}/disputes`, dispute)).status, 201)
  const letter = { subject: 'Offer', body: 'Dear' }
  assert.equal((await anna.send('POST', `/clients/${client}/letters`, letter)).status, 201)
  await service.customer({ name: 'Portal', own: true })
  await service.keys.revoke((await service.customer()).keyId, byService)
  const drafted = { instructions: 'Write.', notes: [String(note.json['id'])] }
  assert.equal((await anna.send('POST', `/clients/${client}/drafts`, drafted)).status, 200)
  await erase(firm, database)
  await sealAll(database)
  await fillInvoices(firm, database)
  await sealAll(database)
  // The last seal covers events that no change depends on.
  await anna.get('/clients')
  await firm.close()
  await vendor.close()
  await sealAll(database)
  const [lines] = await database.rows<{ text: string }>(
    `select string_agg(format('%s:%s:%s:%s', chain, number, upto, encode(hash, 'hex')), ' ') as text from seal`,
  )
  await database.close()
  return parseSeals(lines?.text ?? '')
}

/** An issued and partly paid invoice for the usage of a month. */
async function fillInvoices(firm: Firm, database: Database): Promise<void> {
  const customer = await firm.service.customer()
  const usage = {
    day: '2026-01-05',
    model: 'fast',
    input: 1_234_567,
    output: 89_012,
    prices: [400_000n, 1_600_000n],
  } as const
  await addPastUsage(database, customer, [usage])
  const paula = await firm.join('Paula', 'partner')
  const send = async (address: string, body?: object) => {
    const answer = await paula.send('POST', address, body, { 'if-match': '"1"' })
    assert.ok(answer.status < 300, answer.text)
    return answer
  }
  const lines = [{ text: 'Advice', quantity: '1', unit: 'hour', unit_price: '100' }]
  const { json } = await send('/invoices', { account: customer.accountId, month: '2026-01', lines })
  const issued = await send(`/invoices/${String(json['id'])}/issue`)
  await send(`/invoices/${String(json['id'])}/payments`, { date: issued.json['issued_on'], amount: '40' })
  // Closes the months that are over.
  assert.equal((await paula.get('/invoices/unbilled')).status, 200)
}

/** Erases a client with a sent letter, a draft and two versions of a note, all of which are sealed. */
async function erase(firm: Firm, database: Database): Promise<void> {
  const [ben, paula] = [await firm.join('Ben', 'consultant'), await firm.join('Paula', 'partner')]
  const gone = `/clients/${await fillClient(ben)}`
  await sealAll(database)
  assert.equal((await paula.send('POST', `${gone}/erasure`, { reason: 'The engagement ended.' })).status, 201)
  await until(async () => (await paula.get(gone)).status === 404)
}

/** The failed checks of a verification of the tampered database. */
async function find({ sql, ...options }: VerificationOptions & { readonly sql: string }): Promise<VerifyCheck[]> {
  const checks = await whileTampered(filled, sql, (tampered) => verifyAll(tampered, options))
  return checks.filter(({ ok }) => !ok)
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part))

/** A ledger row in the middle of the others, and its account. */
const row = `(select request_id from ledger order by number offset 1 limit 1)`
const payer = `(select account_id from ledger order by number offset 1 limit 1)`
const other = `(select account_id from ledger where key_id is not null and account_id <> ${payer} limit 1)`
const request = `select request_id::text from ledger where request_id = ${row}`
/** Adjusts all sums to a change of the ledger. */
const follow = `
  delete from usage_day;
  insert into usage_day (day, account_id, key_id, person_id, model, client_id, requests, input_tokens, output_tokens,
      cached_tokens, cache_write_tokens, cost)
    select (at at time zone 'UTC')::date, account_id, key_id, person_id, model, client_id, count(*), sum(input_tokens),
      sum(output_tokens), sum(cached_tokens), sum(cache_write_tokens), sum(cost) from ledger group by 1, 2, 3, 4, 5, 6;
  update account set charged = coalesce(c, 0), month_charged = coalesce(c, 0)
    from account a left join (select account_id, sum(cost) as c from ledger group by 1) l on l.account_id = a.id
    where account.id = a.id;`
const instance = (age: string) => `
  insert into instance (id, host, started_at, seen_at) values ('00000000-0000-0000-0000-000000000001', 'h', now() - interval '${age}', now());`
const hold = (age: string, of = "'00000000-0000-0000-0000-0000000000aa'") => `
  insert into hold (id, account_id, key_id, instance_id, model, input_tokens, max_output_tokens, input_price, output_price, cost, created_at)
    select ${of}, account_id, key_id, '00000000-0000-0000-0000-000000000001', model, 1, 1, 1, 2, 3, now() - interval '${age}'
    from ledger where request_id = ${row};
  update account set held = held + 3 where id = ${payer};`
const lastSeal = `(select max(number) from seal where chain = 'audit')`
const previous = `(select upto from seal where chain = 'audit' and number = ${lastSeal} - 1)`
/** Recomputes the whole chain of a table. */
const rebuild = (chain: string) => `
  do $rebuild$
  declare
    v_upto bigint := (select upto from seal_chain where name = '${chain}');
  begin
    delete from seal where chain = '${chain}';
    update seal_chain set seals = 0, upto = 0, hash = '' where name = '${chain}';
    perform add_seal('${chain}', v_upto);
  end $rebuild$;`
/** With the triggers of the database, as any of its users could make a change. Its audit event is missing. */
const plainly = (sql: string) => `set local session_replication_role = origin; ${sql}; set constraints all immediate`
const one = (text: string): string => `select '${text}'`

const ledger: Tampering[] = [
  {
    name: 'tokens and cost of a charge, with all sums',
    sql: `update ledger set output_tokens = output_tokens + 1, cost = cost + output_price where request_id = ${row}; ${follow}`,
    names: request,
  },
  {
    name: 'a stop reason',
    sql: `update ledger set stop_reason = 'cancelled' where request_id = ${row}`,
    names: request,
  },
  {
    name: 'a usage source',
    sql: `update ledger set usage_source = 'estimated' where request_id = ${row}`,
    names: request,
  },
  {
    name: 'the time of a charge',
    sql: `update ledger set at = at - interval '1 microsecond' where request_id = ${row}`,
    names: request,
  },
  {
    name: 'the client of a charge, with its roll-up',
    sql: `update ledger set client_id = gen_random_uuid() where request_id = ${row}; ${follow}`,
    names: request,
  },
  {
    name: 'the prices of a charge',
    sql: `update ledger set input_price = 0, output_price = 1, cost = output_tokens where request_id = ${row}; ${follow}`,
    names: request,
  },
  {
    name: 'the account of a charge, with all sums',
    sql: `update ledger set account_id = ${other} where request_id = ${row}; ${follow}`,
    names: request,
  },
  {
    name: 'the key of a charge',
    sql: `update ledger set key_id = (select key_id from ledger where account_id = ${other} limit 1) where request_id = ${row}; ${follow}`,
    names: request,
  },
  {
    name: 'tokens that were not charged',
    sql: `update ledger set uncharged_output = 5 where request_id = ${row}`,
    names: request,
  },
  {
    name: 'input that became cached input, with all sums',
    sql: `update ledger set input_tokens = input_tokens - 1, cached_tokens = cached_tokens + 1 where request_id = ${row}; ${follow}`,
    names: request,
  },
  {
    name: 'a price of cached input',
    sql: `update ledger set cached_price = 1 where request_id = ${row}`,
    names: request,
  },
  {
    name: 'a charge removed',
    sql: `delete from ledger where request_id = ${row}`,
    names: `select number::text from ledger where request_id = ${row}`,
  },
  {
    name: 'a charge removed with its roll-up and all sums',
    sql: `delete from ledger where request_id = ${row}; ${follow}`,
    names: `select format('"row":"%s"', number) from ledger where request_id = ${row}`,
  },
  {
    name: 'a charge added among sealed ones',
    sql: `insert into ledger select at, '00000000-0000-0000-0000-0000000000ab', account_id, key_id, person_id, model, client_id, input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source, uncharged_input, uncharged_output, number from ledger where request_id = ${row}; ${follow}`,
    names: one('00000000-0000-0000-0000-0000000000ab'),
  },
  {
    name: 'a request charged twice',
    sql: `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source) select at + interval '1 s', request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source from ledger where request_id = ${row}; ${follow}`,
    names: `select format('"request":"%s","rows":"2"', request_id) from ledger where request_id = ${row}`,
  },
  {
    name: 'a charge with a number that was never drawn',
    sql: `update ledger set number = 1000000 where request_id = ${row}`,
    names: one('its number was never drawn'),
  },
  {
    name: 'a charge with a negative number',
    sql: `update ledger set number = -1 where request_id = ${row}`,
    names: request,
  },
  {
    name: 'a charge of the future',
    sql: `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source) select now() + interval '2 days', '00000000-0000-0000-0000-0000000000ac', account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source from ledger where request_id = ${row}; ${follow}`,
    names: one('00000000-0000-0000-0000-0000000000ac'),
  },
  {
    name: 'a new charge with an unknown stop reason',
    sql: `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source) select now(), '00000000-0000-0000-0000-0000000000ad', account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, 'because', usage_source from ledger where request_id = ${row}; ${follow}`,
    names: one('00000000-0000-0000-0000-0000000000ad'),
  },
]

const account = `select id::text from account where id = ${payer}`
const books: Tampering[] = [
  { name: 'a roll-up', sql: `update usage_day set cost = cost + 1 where account_id = ${payer}`, names: account },
  ...['cached_tokens', 'cache_write_tokens'].map((column) => ({
    name: `the ${column} of a roll-up`,
    sql: `update usage_day set ${column} = ${column} + 1 where account_id = ${payer}`,
    names: account,
  })),
  {
    name: 'the requests of a roll-up',
    sql: `update usage_day set requests = requests + 1 where account_id = ${payer}`,
    names: account,
  },
  {
    name: 'the charges of an account',
    sql: `update account set charged = charged - 1 where id = ${payer}`,
    names: account,
  },
  { name: 'the charges of the month', sql: `update account set month_charged = 0 where id = ${payer}`, names: account },
  { name: 'the held credit', sql: `update account set held = held + 1 where id = ${payer}`, names: account },
  { name: 'the lent credit', sql: `update account set credit_lent = 1 where id = ${payer}`, names: account },
  { name: 'the balance alone', sql: `update account set credited = credited + 1 where id = ${payer}`, names: account },
  {
    name: 'a credit entry and its balance',
    sql: `update credit_entry set amount = amount + 1 where account_id = ${payer}; update account set credited = credited + 2 where id = ${payer}`,
    names: `select min(id::text) from credit_entry where account_id = ${payer}`,
  },
  {
    name: 'a credit entry removed with its balance',
    sql: `update account set credited = credited - 1000000000000 where id = ${payer}; delete from credit_entry where amount = 1000000000000`,
    names: `select format('"row":"%s"', number) from credit_entry where amount = 1000000000000`,
  },
  {
    name: 'the note of a credit entry',
    sql: `update credit_entry set note = 'gift' where amount = 1000000000000`,
    names: `select id::text from credit_entry where amount = 1000000000000`,
  },
  {
    name: 'a credit entry moved to another account with both balances',
    sql: `update credit_entry set account_id = ${other} where amount = 1000000000000; update account set credited = credited - 1000000000000 where id = ${payer}; update account set credited = credited + 1000000000000 where id = ${other}`,
    names: `select id::text from credit_entry where amount = 1000000000000`,
  },
  { name: 'a price', sql: 'update price set input = input + 1', names: one('"model":"fast"') },
  {
    name: 'the beginning of a price',
    sql: `update price set valid_from = valid_from - interval '1 day'`,
    names: one('"model":"fast"'),
  },
  { name: 'a price removed', sql: 'delete from price', names: one('"table":"price","row":"1"') },
  {
    name: 'a bucket above its limit',
    sql: `update account set request_level = requests_per_minute * 60000000::bigint + 1 where id = ${payer}`,
    names: account,
  },
  {
    name: 'a bucket of the future',
    sql: `update account set level_at = now() + interval '1 hour' where id = ${payer}`,
    names: account,
  },
  { name: 'a negative bucket', sql: `update account set token_level = -1 where id = ${payer}`, names: account },
  {
    name: 'a leaked hold',
    sql: instance('1 day') + hold('2 hours'),
    names: one('00000000-0000-0000-0000-0000000000aa'),
  },
  { name: 'a hold without its instance', sql: hold('1 minute'), names: one('00000000-0000-0000-0000-0000000000aa') },
  { name: 'a hold of a request that was charged', sql: instance('1 day') + hold('1 minute', row), names: request },
  {
    name: 'an instance that nobody released',
    sql: `${instance('1 day')} insert into instance (id, host, seen_at) values ('00000000-0000-0000-0000-000000000002', 'h', now() - interval '1 hour')`,
    names: one('00000000-0000-0000-0000-000000000002'),
  },
  {
    name: 'an orphaned idempotency key',
    sql: `insert into idempotency (account_id, key, request_hash, hold_id, created_at) values (${payer}, 'orphan', 'h', gen_random_uuid(), now())`,
    names: one('orphan'),
  },
  {
    name: 'a forged stored reply',
    sql: `insert into idempotency (account_id, key, request_hash, hold_id, created_at, headers, body) values (${payer}, 'forged', 'h', gen_random_uuid(), now(), '{}', '{}')`,
    names: one('forged'),
  },
  {
    name: 'a stored reply of another account',
    sql: `update idempotency set account_id = ${other}`,
    names: one('"idempotency_key":"once"'),
  },
  ...['body', 'request_hash'].map((column) => ({
    name: `the ${column} of a stored reply`,
    sql: plainly(`update idempotency set ${column} = ${column} || ' '`),
    names: one('"idempotency_key":"once"'),
  })),
  {
    name: 'an idempotency key of the future',
    sql: `update idempotency set created_at = now() + interval '10 years'`,
    names: one('"idempotency_key":"once"'),
  },
  {
    name: 'a key moved to another account',
    sql: `update api_key set account_id = ${other} where account_id = ${payer}`,
    names: `select id::text from api_key where account_id = ${payer}`,
  },
  {
    name: 'a key moved, with the account that it was issued to',
    sql: `update api_key set account_id = ${other} where account_id = ${payer}; update key_issue set account_id = ${other} where account_id = ${payer}`,
    names: `select id::text from api_key where account_id = ${payer}`,
  },
  {
    name: 'the secret of a key',
    sql: `update api_key set secret_hash = sha256('x') where account_id = ${payer}`,
    names: `select id::text from api_key where account_id = ${payer}`,
  },
  {
    name: 'a key that was never issued',
    sql: `insert into api_key (id, public_id, secret_hash, account_id, name) values ('00000000-0000-0000-0000-0000000000ae', 'x', sha256('x'), ${payer}, 'x')`,
    names: one('00000000-0000-0000-0000-0000000000ae'),
  },
]

const noteRow = `(select number from revision where noun = 'note' and version = 1 and data <> '{}')`
const history: Tampering[] = [
  {
    name: 'the outcome of an audit event',
    sql: `update audit set outcome = 'refused' where id = 2`,
    names: one('"table":"audit","row":"2"'),
  },
  {
    name: 'the details of an audit event',
    sql: `update audit set details = '{"a":"b"}' where id = 2`,
    names: one('"table":"audit","row":"2"'),
  },
  {
    name: 'the time of an audit event',
    sql: `update audit set at = at + interval '1 microsecond' where id = 2`,
    names: one('"table":"audit","row":"2"'),
  },
  { name: 'an audit event removed', sql: `delete from audit where id = 2`, names: one('"row":"2"') },
  {
    name: 'an audit event with the id 0',
    sql: `insert into audit (id, actor, action, outcome) overriding system value values (0, 'service', 'x', 'allowed')`,
    names: one('"table":"audit","row":"0"'),
  },
  {
    name: 'an audit event with a negative id',
    sql: `insert into audit (id, actor, action, outcome) overriding system value values (-7, 'service', 'x', 'allowed')`,
    names: one('"table":"audit","row":"-7"'),
  },
  {
    name: 'an audit event far out of order',
    sql: `insert into audit (id, actor, action, outcome) overriding system value values (900000, 'service', 'x', 'allowed')`,
    names: one('"table":"audit","row":"900000"'),
  },
  {
    name: 'two audit events swapped',
    sql: `update audit a set at = b.at, action = b.action, details = b.details, person_id = b.person_id, actor = b.actor from audit b where (a.id, b.id) in ((1, 2), (2, 1))`,
    names: one('"table":"audit","row":"1"'),
  },
  {
    name: 'a seal',
    sql: `update seal set hash = sha256('x') where chain = 'audit' and number = 1`,
    names: one('"table":"audit","seal":"1"'),
  },
  {
    name: 'the digest of a seal',
    sql: `update seal set digest = sha256('x') where chain = 'ledger' and number = 1`,
    names: one('"table":"ledger","seal":"1"'),
  },
  {
    name: 'the last seal removed',
    sql: `delete from seal where chain = 'audit' and number = ${lastSeal}`,
    names: `select format('"seal":"%s"', ${lastSeal})`,
  },
  {
    name: 'a seal in the middle removed',
    sql: `delete from seal where chain = 'audit' and number = 1`,
    names: one('a seal before it is missing'),
  },
  {
    name: 'the last seal and its rows removed, and the end of the chain set back',
    sql: `delete from audit where id > ${previous}; delete from seal where chain = 'audit' and number = ${lastSeal}; update seal_chain set (seals, upto, hash) = (select number, upto, hash from seal where chain = 'audit' order by number desc limit 1) where name = 'audit'`,
    names: `select format('"seal":"%s"', ${lastSeal})`,
    needsSeals: true,
  },
  {
    name: 'a charge changed and its chain rebuilt',
    sql: `update ledger set stop_reason = 'cancelled' where request_id = ${row}; ${rebuild('ledger')}`,
    names: one('"table":"ledger"'),
    needsSeals: true,
  },
  {
    name: 'an audit event removed and its chain rebuilt',
    // No recorded change names a view.
    sql: `delete from audit where id = (select min(id) from audit where action = 'clients_listed'); ${rebuild('audit')}`,
    names: one('"table":"audit"'),
    needsSeals: true,
  },
  {
    name: 'the checksum in a seal',
    sql: `update seal set checksum = checksum + 1 where chain = 'ledger' and number = 1`,
    names: one('"table":"ledger","seal":"1"'),
  },
  {
    name: 'a charge and its roll-up moved to another key, with the checksums as they were',
    sql: `update ledger set key_id = (select key_id from ledger where account_id = ${other} limit 1) where request_id = ${row}; ${follow}`,
    names: one('the checksums in the seals do not match the roll-ups'),
  },
  {
    name: 'all seals of a table removed',
    sql: `delete from seal where chain = 'revision'`,
    names: one('"table":"revision"'),
  },
  {
    name: 'a table no longer sealed',
    sql: `delete from seal where chain = 'price'; delete from seal_chain where name = 'price'`,
    names: one('"table":"price"'),
  },
  {
    name: 'the text of a note, without a revision',
    sql: `update note set text = 'other'`,
    names: `select id::text from note`,
  },
  {
    name: 'the name of a client, without a revision',
    sql: `update client set name = 'Other'`,
    names: `select id::text from client`,
  },
  {
    name: 'the amount of a dispute, without a revision',
    sql: `update dispute set amount = 1`,
    names: `select id::text from dispute`,
  },
  {
    name: 'the status of a letter, without a revision',
    sql: `update letter set status = 'sent'`,
    names: `select id::text from letter`,
  },
  {
    name: 'the consultant of a client, without a revision',
    sql: `update client set consultant_id = gen_random_uuid()`,
    names: `select id::text from client`,
  },
  {
    name: 'a revision',
    sql: `update revision set data = data || '{"text":"other"}' where number = ${noteRow}`,
    names: `select noun_id::text from revision where number = ${noteRow}`,
  },
  {
    name: 'a revision in the name of another person',
    sql: `update revision set person_id = null where number = ${noteRow}`,
    names: `select noun_id::text from revision where number = ${noteRow}`,
  },
  {
    name: 'a note together with its last revision',
    sql: `update note set text = 'other'; update revision set data = data || '{"text":"other"}' where noun = 'note' and version = 2`,
    names: `select id::text from note`,
  },
  {
    name: 'a revision removed',
    sql: `delete from revision where number = ${noteRow}`,
    names: `select noun_id::text from revision where number = ${noteRow}`,
  },
  {
    name: 'the last revision and the edit undone',
    sql: `delete from revision where noun = 'note' and version = 2; update note set text = 'first', version = 1`,
    names: `select format('"row":"%s"', number) from revision where noun = 'note' and version = 2`,
  },
  { name: 'a note removed', sql: `delete from note`, names: `select id::text from note` },
  {
    name: 'a note removed with its revisions',
    sql: `delete from note; delete from revision where noun = 'note'`,
    names: `select format('"row":"%s"', ${noteRow})`,
  },
]

const drafts: Tampering[] = [
  {
    name: 'a draft removed, and its charge left',
    sql: `delete from draft`,
    names: `select format('"request":"%s"', id) from draft`,
  },
  {
    name: 'the charge of a letter removed, with all sums',
    sql: `delete from ledger where person_id is not null; ${follow}`,
    names: `select format('"draft":"%s"', id) from draft`,
  },
  {
    name: 'a draft moved to another author',
    sql: `update draft set created_by = gen_random_uuid()`,
    names: `select format('"request":"%s"', id) from draft`,
  },
  {
    name: 'a letter that a model wrote, taken for one of a person',
    sql: `update letter set generated = false`,
    names: `select format('"letter":"%s"', letter_id) from draft`,
  },
  {
    name: 'a letter of a person, taken for one that a model wrote',
    sql: `update letter set generated = true`,
    names: `select format('"letter":"%s"', id) from letter where not generated`,
  },
]

const invoice = `select id::text from invoice where month is not null`
/** As one check names it, by the field that follows. The seals name the invoice too. */
const invoiceWith = (field: string) =>
  `select format('{"invoice":"%s","${field}":', id) from invoice where month is not null`
const document = (field: string, value: string) =>
  `update invoice_issue set document = jsonb_set(document, '{${field}}', '${value}')`
const invoices: Tampering[] = [
  { name: 'the buyer of an invoice', sql: `update invoice set buyer_name = 'Other'`, names: invoice },
  {
    name: 'a line of an invoice',
    sql: `update invoice_line set quantity = quantity * 2, exact = exact * 2, net = net * 2 where source = 'fee'`,
    names: invoice,
  },
  {
    name: 'a line billed by less than its ledger, with all totals, and its document',
    sql: `update invoice_line set quantity = 1, exact = unit_price where source = 'usage' and direction = 'input';
      update invoice_issue set document = invoice_document((select i from invoice i where i.id = invoice_id))`,
    names: invoiceWith('account'),
  },
  {
    name: 'a line rounded by hand, with its invoice and its document',
    sql: `update invoice_line set net = net + 10000000000 where source = 'fee';
      update invoice set net = net + 10000000000, gross = gross + 10000000000,
        taxes = jsonb_set(taxes, '{0,net}', to_jsonb((net + 10000000000)::text));
      update invoice_issue set document = invoice_document((select i from invoice i where i.id = invoice_id))`,
    names: invoiceWith('position'),
  },
  {
    name: 'tax that is not due, with all totals and the document',
    sql: `update invoice set tax = tax + 10000000000, gross = gross + 10000000000,
        taxes = jsonb_set(taxes, '{0,tax}', to_jsonb((tax + 10000000000)::text));
      update invoice_issue set document = invoice_document((select i from invoice i where i.id = invoice_id))`,
    names: invoiceWith('net'),
  },
  {
    name: 'a tax that no line has, with the document',
    sql: `update invoice set taxes = taxes || '[{"category": "E", "rate": 0, "reason": "none", "net": "0", "tax": "0"}]';
      update invoice_issue set document = invoice_document((select i from invoice i where i.id = invoice_id))`,
    names: invoiceWith('net'),
  },
  { name: 'the number of an invoice', sql: `update invoice set number = 'INV-1'`, names: one('"series":"INV-') },
  {
    name: 'an invoice removed with its lines and its document',
    sql: `delete from invoice_issue; delete from invoice_payment; delete from billed_month; delete from invoice_line;
      delete from invoice`,
    names: one('"series":"INV-'),
  },
  {
    name: 'an invoice removed with its series',
    sql: `delete from invoice_issue; delete from invoice_payment; delete from billed_month; delete from invoice_line;
      delete from invoice; delete from invoice_series`,
    names: one('"table":"invoice_issue","row":"1"'),
  },
  { name: 'a document', sql: document('invoice,note', '"other"'), names: invoice },
  {
    name: 'an invoice and its document',
    sql: `update invoice set note = 'other'; ${document('invoice,note', '"other"')}`,
    names: invoice,
  },
  {
    name: 'a payment',
    sql: `update invoice_payment set amount = amount / 2`,
    names: `select id::text from invoice_payment`,
  },
  { name: 'a payment removed', sql: `delete from invoice_payment`, names: one('"table":"invoice_payment","row":"1"') },
  { name: 'a month that is billed, without its mark', sql: `delete from billed_month`, names: invoice },
  {
    name: 'an issued invoice that was none',
    sql: `update invoice set state = 'void', number = null, series = null, series_number = null, seller = null,
      issued_on = null, due_on = null, issued_at = null, issued_by = null`,
    names: invoice,
  },
]

const gone = '(select client_id from erased_client)'
const erased = `(select min(number) from revision where client_id = ${gone} and data = '{}')`
const keptNote = `(select noun_id from revision where number = ${noteRow})`
const erasures: Tampering[] = [
  {
    name: 'the contents of a revision removed',
    sql: `update revision set data = '{}' where number = ${noteRow}`,
    names: `select noun_id::text from revision where number = ${noteRow}`,
  },
  {
    name: 'the contents of a revision removed as if its client were erased',
    sql: `update revision set erased = (select digest from row_digests('revision', 'number', (select columns from seal where chain = 'revision' and upto >= ${noteRow} order by upto limit 1), ${noteRow} - 1, ${noteRow})), data = '{}' where number = ${noteRow}`,
    names: `select noun_id::text from revision where number = ${noteRow}`,
  },
  {
    name: 'a note removed with the contents of its revisions',
    sql: `delete from note; update revision set data = '{}', erased = sha256('') where noun_id = ${keptNote}`,
    names: `select noun_id::text from revision where number = ${noteRow}`,
  },
  {
    name: 'a forged erasure without its events in the audit log',
    sql: `update revision r set data = '{}', erased = (select digest from row_digests('revision', 'number', (select columns from seal where chain = 'revision' and upto >= r.number order by upto limit 1), r.number - 1, r.number)) where client_id = (select client_id from note limit 1);
      insert into erased_client (client_id, reason, scheduled_at, revisions, remains) select client_id, 'x', now(), 0, sha256('') from note limit 1`,
    names: `select format('"client":"%s"', client_id) from note limit 1`,
  },
  {
    name: 'other contents in an erased revision',
    sql: `update revision set data = '{"text":"other"}' where number = ${erased}`,
    names: `select noun_id::text from revision where number = ${erased}`,
  },
  {
    name: 'other contents in an erased revision whose digest is gone too',
    sql: `update revision set data = '{"text":"other"}', erased = null where number = ${erased}`,
    names: `select noun_id::text from revision where number = ${erased}`,
  },
  {
    name: 'the author of an erased revision',
    sql: `update revision set person_id = null where number = ${erased}`,
    names: `select format('"client":"%s"', client_id) from erased_client`,
  },
  {
    name: 'the digest of an erased revision',
    sql: `update revision set erased = sha256('x') where number = ${erased}`,
    names: `select noun_id::text from revision where number = ${erased}`,
  },
  {
    name: 'an erased revision removed',
    sql: `delete from revision where number = ${erased}`,
    names: `select format('"row":"%s"', ${erased})`,
  },
  {
    name: 'the reason of an erasure',
    sql: `update erased_client set reason = 'other'`,
    names: `select client_id::text from erased_client`,
  },
  {
    name: 'an erasure removed',
    sql: `delete from erased_client`,
    names: `select number::text from revision where number = ${erased}`,
  },
  {
    name: 'a name given to an erased client',
    sql: `update client set name = 'Berta' where id = ${gone}`,
    names: `select client_id::text from erased_client`,
  },
  {
    name: 'a note given to an erased client',
    sql: `update note set client_id = ${gone}`,
    names: `select id::text from note`,
  },
]

const settings: Tampering[] = [
  {
    name: 'a revoked key that is usable again',
    sql: 'update api_key set revoked_at = null where revoked_at is not null',
    names: 'select id::text from api_key where revoked_at is not null',
  },
  {
    name: 'a role that nobody gave',
    sql: `update person set role = 'partner' where name = 'Anna'`,
    names: `select id::text from person where name = 'Anna'`,
  },
]

const fresh = '00000000-0000-0000-0000-0000000000af'
const named = (table: string, id: string) => `select format('"table":"${table}","id":"%s"', (${id}))`
const unannounced: Tampering[] = [
  {
    name: 'the row of a series removed',
    sql: 'delete from invoice_series',
    names: named('invoice_series', 'select name from invoice_series'),
  },
  {
    name: 'a closed month removed with all that is unbilled',
    sql: `delete from closed_month where month = '2026-01-01'; delete from unbilled`,
    names: named('closed_month', `select month from closed_month where month = '2026-01-01'`),
  },
  {
    name: 'a payment of a plausible amount',
    sql: plainly(`insert into invoice_payment (id, invoice_id, date, amount, method)
      select '${fresh}', invoice_id, date, amount, method from invoice_payment limit 1`),
    names: one(`"table":"invoice_payment","id":"${fresh}"`),
  },
  {
    name: 'credit of a plausible amount, with its balance',
    sql: plainly(`insert into credit_entry (id, account_id, amount, note) values ('${fresh}', ${payer}, 5, 'top-up');
      update account set credited = credited + 5 where id = ${payer}`),
    names: one(`"table":"credit_entry","id":"${fresh}"`),
  },
  {
    name: 'a plausible price',
    sql: plainly(
      `insert into price (model, valid_from, input, output, source) values ('fast', now(), 1, 2, 'command')`,
    ),
    names: named('price', `select max(number) + 1 from price`),
  },
  {
    name: 'an account that becomes one of the firm',
    sql: plainly(`update account set own = true where id = ${payer}`),
    names: named('account', `select ${payer}`),
  },
  {
    name: 'the limits of an account',
    sql: plainly(`update account set requests_per_minute = requests_per_minute + 1 where id = ${payer}`),
    names: named('account', `select ${payer}`),
  },
  {
    name: 'the email address of a person',
    sql: plainly(`update person set email = 'other@example.com', email_key = 'other@example.com' where name = 'Anna'`),
    names: named('person', `select id from person where name = 'Anna'`),
  },
  {
    name: 'the instructions of a draft',
    sql: plainly(`update draft set instructions = 'other'`),
    names: named('draft', 'select id from draft'),
  },
  {
    name: 'a note and its next revision',
    sql: plainly(`update note set text = 'other', version = version + 1`),
    names: named('revision', `select concat_ws('/', 'note', id, version + 1) from note`),
  },
  {
    name: 'the consultant of a client and its next revision',
    sql: plainly(
      `update client set consultant_id = (select id from person where name = 'Ben'), version = version + 1 where name = 'Berg'`,
    ),
    names: named('revision', `select concat_ws('/', 'client', id, version + 1) from client where name = 'Berg'`),
  },
  {
    name: 'the event of a recorded change',
    sql: `update recorded_change set event = null where table_name = 'person' and number = (
      select max(number) from recorded_change where table_name = 'person')`,
    names: `select format('"table":"recorded_change","row":"%s"', max(number)) from recorded_change where table_name = 'person'`,
  },
]

const schema: Tampering[] = [
  {
    name: 'a dropped index',
    sql: 'drop index ledger_account_id_at_idx',
    names: one('index ledger_account_id_at_idx on ledger'),
  },
  {
    name: 'an added column',
    sql: 'alter table usage_day add extra text',
    names: one('column extra of usage_day is text'),
  },
  { name: 'an added table', sql: 'create table extra (a integer)', names: one('column a of extra is integer') },
  {
    name: 'an added foreign table',
    sql: `create foreign data wrapper away; create server away foreign data wrapper away;
      create foreign table extra (a integer) server away`,
    names: one('column a of extra is integer'),
  },
  { name: 'a dropped trigger', sql: 'drop trigger append_only on audit', names: one('trigger append_only on audit') },
  {
    name: 'a disabled trigger',
    sql: 'alter table note disable trigger revised',
    names: one('trigger revised on note'),
  },
  {
    name: 'an added trigger',
    sql: 'create trigger extra before insert on ledger for each row execute function refuse_change()',
    names: one('trigger extra on ledger'),
  },
  {
    name: 'row-level security off',
    sql: 'alter table note disable row level security',
    names: one('row-level security of note'),
  },
  {
    name: 'row-level security that spares the owner',
    sql: 'alter table client no force row level security',
    names: one('row-level security of client'),
  },
  { name: 'a dropped policy', sql: 'drop policy own on letter', names: one('policy own on letter') },
  { name: 'a widened policy', sql: 'alter policy own on note using (true)', names: one('policy own on note') },
  { name: 'an added policy', sql: 'create policy extra on note using (true)', names: one('policy extra on note') },
  {
    name: 'a right of the portal login',
    sql: `do $$ begin execute format('grant select on session to %I', portal_role('portal')); end $$`,
    names: one('grant select on session to portal'),
  },
  {
    name: 'a right of consultants to one column',
    sql: `do $$ begin execute format('grant update (consultant_id) on client to %I', portal_role('consultant')); end $$`,
    names: one('grant update (address, changed_at, consultant_id'),
  },
  {
    name: 'a right of everybody',
    sql: 'grant select on ledger to public',
    names: one('grant select on ledger to public'),
  },
  {
    name: 'the right of everybody to create temporary tables',
    sql: `do $$ begin execute format('grant temporary on database %I to public', current_database()); end $$`,
    names: one('grant temporary on the database to public'),
  },
  {
    name: 'the right of the portal login to create temporary tables',
    sql: `do $$ begin execute format('grant temporary on database %I to %I', current_database(), portal_role('portal')); end $$`,
    names: one('grant temporary on the database to portal'),
  },
  {
    name: 'a right to write a partition',
    sql: `do $$ begin execute format('grant insert on ledger_default to %I', portal_role('partner')); end $$`,
    names: one('grant insert on ledger_default to partner'),
  },
  {
    name: 'the right of the owner to delete audit events',
    sql: `do $grant$ begin execute format('grant delete on audit to %I', (select tableowner from pg_tables where tablename = 'audit')); end $grant$`,
    names: one('grant delete on audit to owner'),
  },
  {
    name: 'a right to run a function as the owner',
    sql: `do $$ begin execute format('grant execute on function number_key() to public'); end $$`,
    names: one('grant execute on number_key to public'),
  },
  {
    name: 'a SECURITY DEFINER function without a safe search_path',
    sql: 'alter function keep_revision() reset all',
    names: one('keep_revision'),
  },
  {
    name: 'a function that becomes SECURITY DEFINER',
    sql: 'alter function portal_person() security definer',
    names: one('portal_person'),
  },
  {
    name: 'a replaced function',
    sql: 'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return null; end $$',
    names: one('refuse_change'),
  },
  { name: 'a dropped function', sql: 'drop function reap', names: one('"function":"reap"') },
  {
    name: 'a dropped constraint',
    sql: 'alter table account drop constraint never_negative',
    names: one('constraint never_negative on account'),
  },
  {
    name: 'a missing partition for next month',
    sql: `do $$ begin execute format('drop table ledger_%s', to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')); end $$`,
    names: `select 'ledger_' || to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')`,
  },
  {
    name: 'a detached partition',
    sql: `do $$ begin execute format('alter table ledger detach partition ledger_%s', to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')); end $$`,
    names: `select 'ledger_' || to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')`,
  },
]

/** At least one kind for each check that something here fails. `npm run endure` plants all. */
const short = new Set([
  'the charge of a letter removed, with all sums',
  'a note together with its last revision',
  'an erasure removed',
  'a line billed by less than its ledger, with all totals, and its document',
  'an issued invoice that was none',
  'a key moved to another account',
  'a seal in the middle removed',
  'a replaced function',
  'the charges of an account',
  'the held credit',
  'the lent credit',
  'the balance alone',
  'a credit entry and its balance',
  'a price',
  'a bucket above its limit',
  'a leaked hold',
  'a hold without its instance',
  'a hold of a request that was charged',
  'an instance that nobody released',
  'an audit event with the id 0',
  'the last seal and its rows removed, and the end of the chain set back',
  'all seals of a table removed',
  'a table no longer sealed',
  'a payment',
  'the body of a stored reply',
  'the row of a series removed',
  'a closed month removed with all that is unbilled',
  'a payment of a plausible amount',
  'the email address of a person',
  'a revoked key that is usable again',
  'a role that nobody gave',
  'a missing partition for next month',
  'a request charged twice',
  'a charge with a negative number',
  'a charge of the future',
  'a key moved, with the account that it was issued to',
  'the digest of a seal',
  'a revision removed',
  'a draft removed, and its charge left',
  'a line of an invoice',
  'a forged erasure without its events in the audit log',
])
const all = [
  ...ledger,
  ...books,
  ...history,
  ...drafts,
  ...erasures,
  ...invoices,
  ...settings,
  ...unannounced,
  ...schema,
]
const chosen = all.filter(({ name }) => isEndure || short.has(name))

describe('A35 verify', () => {
  test('finds nothing in a correct database, with or without the kept seals', async () => {
    for (const options of [{}, { full: true, kept }]) {
      assert.deepEqual(
        (await verifyAll(filled, options)).filter(({ ok }) => !ok),
        [],
      )
    }
  })

  test('expects no security definer function with an unsafe search_path', async () => {
    const facts = await readFile(path.join(import.meta.dirname, '../src/access/schema-facts.txt'), 'utf8')
    assert.doesNotMatch(facts, /no safe search_path/)
    assert.match(facts, /runs as its owner/)
  })

  test('finds nothing in a hold no older than a request may be', async () => {
    const sql = instance('1 day') + hold('59 minutes')
    assert.deepEqual(await find({ sql }), [])
    assert.equal((await find({ sql, longestRequest: 60 })).length, 1)
  })

  for (const { name, sql, names, needsSeals } of chosen) {
    test(`finds and names ${name}`, async () => {
      const [wanted] = await asSuperuser(filled, (tx) => tx.rows<Record<string, string>>(names))
      const text = Object.values(wanted ?? {}).join('')
      assert.notEqual(text, '')
      if (needsSeals) assert.deepEqual(await find({ sql }), [], 'found without the seals')
      const found = textOf(await find({ sql, ...(needsSeals && { kept }) }))
      assert.ok(found.includes(text), `${text} is not in ${found}`)
    })
  }

  test('has each kind of the short form', () => assert.ok(isEndure || chosen.length === short.size))
})
