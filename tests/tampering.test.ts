import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, test } from 'node:test'
import { byService } from '../src/access/actor.ts'
import { verifyAll, type VerificationOptions } from '../src/commands/verification.ts'
import type { VerifyCheck } from '../src/platform/verify-checks.ts'
import { openDatabase, type Database } from '../src/platform/database/database.ts'
import { createEncryption } from '../src/platform/encryption/encryption.ts'
import { parseSeals, type SealLine } from '../src/platform/seals/seal-line.ts'
import { createTestDatabase, patience } from './support/database.ts'
import { isEndure } from './support/draws.ts'
import { fillClient } from './support/erasable.ts'
import { startFirm, type Firm } from './support/firm.ts'
import { fixture, setUp } from './support/fixture.ts'
import { addPastUsage } from './support/past-usage.ts'
import { encryptionKey, upstreamModel } from './support/service.ts'
import { asSuperuser } from './support/superuser.ts'
import { sealAll, whileTampered } from './support/tamper.ts'
import { log } from './support/tills.ts'
import { until } from './support/until.ts'
import { startMailServer } from './support/mail-server.ts'
import { startVendor } from './support/vendor.ts'
import { assertVerified } from './support/verified.ts'

// A35: each change is made in a transaction on one database that has everything and is in order, as a superuser could make it.

/** `names` is a query for the text that some finding must contain: the row at fault. It runs before the change. */
type Tampering = readonly [
  name: string,
  sql: string,
  names: string,
  // It takes the seals that were kept outside of the database to find it.
  needs?: 'needs seals',
]

let kept: readonly SealLine[]
const encryption = createEncryption(encryptionKey)

const original = fixture(() => createTestDatabase())
setUp(async () => {
  kept = await fill(original.url)
})
const filled = fixture(() => openDatabase(original.url, { log, ...patience }))

/** Runs a service, then stops it. Returns the last seals. */
async function fill(databaseUrl: string): Promise<SealLine[]> {
  const vendor = await startVendor()
  const mail = await startMailServer()
  const drafting = { account: 'Portal', model: 'fast' }
  const retention = { erasure_after: '0d' }
  const models = [upstreamModel(vendor.url)]
  const firm = await startFirm({ databaseUrl, models, drafting, retention, mail: mail.url, firm: { name: 'Firm' } })
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
  await mail.close()
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
  await send('/invoices', { account: customer.accountId, lines })
  // Closes the months that are over.
  assert.equal((await paula.get('/invoices/unbilled')).status, 200)
}

/** Erases a client with a sent letter, a draft and two versions of a note, all of which are sealed. */
async function erase(firm: Firm, database: Database): Promise<void> {
  const [ben, paula] = [await firm.join('Ben', 'consultant'), await firm.join('Paula', 'partner')]
  // She is the last partner: what was refused has changed no role.
  assert.equal((await paula.send('PATCH', `/people/${paula.id}`, { role: 'consultant' })).status, 409)
  const gone = `/clients/${await fillClient(ben)}`
  await sealAll(database)
  assert.equal((await paula.send('POST', `${gone}/erasure`, { reason: 'The engagement ended.' })).status, 201)
  await until(async () => (await paula.get(gone)).status === 404)
}

/** The failed checks of a verification of the tampered database. */
async function find({ sql, ...options }: VerificationOptions & { readonly sql: string }): Promise<VerifyCheck[]> {
  const checks = await whileTampered(filled, sql, (tampered) => verifyAll(tampered, { encryption, ...options }))
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
const charge = (set: string, then = '') => `update ledger set ${set} where request_id = ${row}; ${then}`
/** Copies a charge with another time, id and reason. */
const addCharge = (at: string, id: string, reason = 'stop_reason') => `
  insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source)
    select ${at}, ${id}, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, ${reason}, usage_source
    from ledger where request_id = ${row};
  ${follow}`
const setAccount = (set: string) => `update account set ${set} where id = ${payer}`
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
/** The same, under an audit event of an earlier change. */
const underEvent = (sql: string) =>
  plainly(
    `select set_config('tollgate.event', (select min(id)::text from audit where outcome = 'allowed'), true); ${sql}`,
  )
/** The limits of an account, without triggers but with the record that they would have left. */
const recordedByHand = (at: string, event: string) => `${setAccount('requests_per_minute = requests_per_minute + 1')};
  do $recorded$ begin execute format('insert into recorded_change (table_name, row_key, digest, marks, at, event)
    select ''account'', t.*, ${at}, ${event} from (select %s from account t where t.id = ${payer}) t', recorded_row('account')); end $recorded$;`
const one = (text: string): string => `select '${text}'`

const ledger: Tampering[] = [
  [
    'tokens and cost of a charge, with all sums',
    charge('output_tokens = output_tokens + 1, cost = cost + output_price', follow),
    request,
  ],
  ['a stop reason', charge(`stop_reason = 'cancelled'`), request],
  ['a usage source', charge(`usage_source = 'estimated'`), request],
  ['the time of a charge', charge(`at = at - interval '1 microsecond'`), request],
  ['the client of a charge, with its roll-up', charge('client_id = gen_random_uuid()', follow), request],
  ['the prices of a charge', charge('input_price = 0, output_price = 1, cost = output_tokens', follow), request],
  ['the account of a charge, with all sums', charge(`account_id = ${other}`, follow), request],
  [
    'the key of a charge',
    charge(`key_id = (select key_id from ledger where account_id = ${other} limit 1)`, follow),
    request,
  ],
  ['tokens that were not charged', charge('uncharged_output = 5'), request],
  [
    'input that became cached input, with all sums',
    charge('input_tokens = input_tokens - 1, cached_tokens = cached_tokens + 1', follow),
    request,
  ],
  ['a price of cached input', charge('cached_price = 1'), request],
  [
    'a charge removed',
    `delete from ledger where request_id = ${row}`,
    `select number::text from ledger where request_id = ${row}`,
  ],
  [
    'a charge removed with its roll-up and all sums',
    `delete from ledger where request_id = ${row}; ${follow}`,
    `select format('"row":"%s"', number) from ledger where request_id = ${row}`,
  ],
  [
    'a charge added among sealed ones',
    `insert into ledger select at, '00000000-0000-0000-0000-0000000000ab', account_id, key_id, person_id, model, client_id, input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source, uncharged_input, uncharged_output, number from ledger where request_id = ${row}; ${follow}`,
    one('00000000-0000-0000-0000-0000000000ab'),
  ],
  [
    'a request charged twice',
    addCharge(`at + interval '1 s'`, 'request_id'),
    `select format('"request":"%s","rows":"2"', request_id) from ledger where request_id = ${row}`,
  ],
  ['a charge with a number that was never drawn', charge('number = 1000000'), one('its number was never drawn')],
  ['a charge with a negative number', charge('number = -1'), request],
  [
    'a charge of the future',
    addCharge(`now() + interval '2 days'`, `'00000000-0000-0000-0000-0000000000ac'`),
    one('00000000-0000-0000-0000-0000000000ac'),
  ],
  [
    'a new charge with an unknown stop reason',
    addCharge('now()', `'00000000-0000-0000-0000-0000000000ad'`, `'because'`),
    one('00000000-0000-0000-0000-0000000000ad'),
  ],
]

const account = `select id::text from account where id = ${payer}`
const books: Tampering[] = [
  ['a roll-up', `update usage_day set cost = cost + 1 where account_id = ${payer}`, account],
  ...['cached_tokens', 'cache_write_tokens'].map((column): Tampering => [
    `the ${column} of a roll-up`,
    `update usage_day set ${column} = ${column} + 1 where account_id = ${payer}`,
    account,
  ]),
  ['the requests of a roll-up', `update usage_day set requests = requests + 1 where account_id = ${payer}`, account],
  ['the charges of an account', setAccount('charged = charged - 1'), account],
  ['the charges of the month', setAccount('month_charged = 0'), account],
  ['the held credit', setAccount('held = held + 1'), account],
  ['the lent credit', setAccount('credit_lent = 1'), account],
  ['the balance alone', setAccount('credited = credited + 1'), account],
  [
    'a credit entry and its balance',
    `update credit_entry set amount = amount + 1 where account_id = ${payer}; update account set credited = credited + 2 where id = ${payer}`,
    `select min(id::text) from credit_entry where account_id = ${payer}`,
  ],
  [
    'a credit entry removed with its balance',
    `update account set credited = credited - 1000000000000 where id = ${payer}; delete from credit_entry where amount = 1000000000000`,
    `select format('"row":"%s"', number) from credit_entry where amount = 1000000000000`,
  ],
  [
    'the note of a credit entry',
    `update credit_entry set note = 'gift' where amount = 1000000000000`,
    `select id::text from credit_entry where amount = 1000000000000`,
  ],
  [
    'a credit entry moved to another account with both balances',
    `update credit_entry set account_id = ${other} where amount = 1000000000000; update account set credited = credited - 1000000000000 where id = ${payer}; update account set credited = credited + 1000000000000 where id = ${other}`,
    `select id::text from credit_entry where amount = 1000000000000`,
  ],
  ['a price', 'update price set input = input + 1', one('"model":"fast"')],
  ['the beginning of a price', `update price set valid_from = valid_from - interval '1 day'`, one('"model":"fast"')],
  ['a price removed', 'delete from price', one('"table":"price","row":"1"')],
  ['a bucket above its limit', setAccount('request_level = requests_per_minute * 60000000::bigint + 1'), account],
  ['a bucket of the future', setAccount(`level_at = now() + interval '1 hour'`), account],
  ['a negative bucket', setAccount('token_level = -1'), account],
  ['a leaked hold', instance('1 day') + hold('2 hours'), one('00000000-0000-0000-0000-0000000000aa')],
  ['a hold without its instance', hold('1 minute'), one('00000000-0000-0000-0000-0000000000aa')],
  ['a hold of a request that was charged', instance('1 day') + hold('1 minute', row), request],
  [
    'an instance that nobody released',
    `${instance('1 day')} insert into instance (id, host, seen_at) values ('00000000-0000-0000-0000-000000000002', 'h', now() - interval '1 hour')`,
    one('00000000-0000-0000-0000-000000000002'),
  ],
  [
    'an orphaned idempotency key',
    `insert into idempotency (account_id, key, request_hash, hold_id, created_at) values (${payer}, 'orphan', 'h', gen_random_uuid(), now())`,
    one('orphan'),
  ],
  [
    'a forged stored reply',
    `insert into idempotency (account_id, key, request_hash, hold_id, created_at, headers, body) values (${payer}, 'forged', 'h', gen_random_uuid(), now(), '{}', '{}')`,
    one('forged'),
  ],
  [
    'a stored reply of another account',
    `update idempotency set account_id = ${other}`,
    one('"idempotency_key":"once"'),
  ],
  ...['body', 'request_hash'].map((column): Tampering => [
    `the ${column} of a stored reply`,
    plainly(`update idempotency set ${column} = ${column} || ' '`),
    one('"idempotency_key":"once"'),
  ]),
  [
    'an idempotency key of the future',
    `update idempotency set created_at = now() + interval '10 years'`,
    one('"idempotency_key":"once"'),
  ],
  [
    'a key moved to another account',
    `update api_key set account_id = ${other} where account_id = ${payer}`,
    `select id::text from api_key where account_id = ${payer}`,
  ],
  [
    'a key moved, with the account that it was issued to',
    `update api_key set account_id = ${other} where account_id = ${payer}; update key_issue set account_id = ${other} where account_id = ${payer}`,
    `select id::text from api_key where account_id = ${payer}`,
  ],
  [
    'the secret of a key',
    `update api_key set secret_hash = sha256('x') where account_id = ${payer}`,
    `select id::text from api_key where account_id = ${payer}`,
  ],
  [
    'a key that was never issued',
    `insert into api_key (id, public_id, secret_hash, account_id, name) values ('00000000-0000-0000-0000-0000000000ae', 'x', sha256('x'), ${payer}, 'x')`,
    one('00000000-0000-0000-0000-0000000000ae'),
  ],
]

const noteRow = `(select number from revision where noun = 'note' and version = 1 and data <> '{}')`
const revision = `select noun_id::text from revision where number = ${noteRow}`
const history: Tampering[] = [
  [
    'the outcome of an audit event',
    `update audit set outcome = 'refused' where id = 2`,
    one('"table":"audit","row":"2"'),
  ],
  [
    'the details of an audit event',
    `update audit set details = '{"a":"b"}' where id = 2`,
    one('"table":"audit","row":"2"'),
  ],
  [
    'the time of an audit event',
    `update audit set at = at + interval '1 microsecond' where id = 2`,
    one('"table":"audit","row":"2"'),
  ],
  ['an audit event removed', `delete from audit where id = 2`, one('"row":"2"')],
  [
    'an audit event with the id 0',
    `insert into audit (id, actor, action, outcome) overriding system value values (0, 'service', 'x', 'allowed')`,
    one('"table":"audit","row":"0"'),
  ],
  [
    'an audit event with a negative id',
    `insert into audit (id, actor, action, outcome) overriding system value values (-7, 'service', 'x', 'allowed')`,
    one('"table":"audit","row":"-7"'),
  ],
  [
    'an audit event far out of order',
    `insert into audit (id, actor, action, outcome) overriding system value values (900000, 'service', 'x', 'allowed')`,
    one('"table":"audit","row":"900000"'),
  ],
  [
    'two audit events swapped',
    `update audit a set at = b.at, action = b.action, details = b.details, person_id = b.person_id, actor = b.actor from audit b where (a.id, b.id) in ((1, 2), (2, 1))`,
    one('"table":"audit","row":"1"'),
  ],
  [
    'a seal',
    `update seal set hash = sha256('x') where chain = 'audit' and number = 1`,
    one('"table":"audit","seal":"1"'),
  ],
  [
    'the digest of a seal',
    `update seal set digest = sha256('x') where chain = 'ledger' and number = 1`,
    one('"table":"ledger","seal":"1"'),
  ],
  [
    'the last seal removed',
    `delete from seal where chain = 'audit' and number = ${lastSeal}`,
    `select format('"seal":"%s"', ${lastSeal})`,
  ],
  [
    'a seal in the middle removed',
    `delete from seal where chain = 'audit' and number = 1`,
    one('a seal before it is missing'),
  ],
  [
    'the last seal and its rows removed, and the end of the chain set back',
    `delete from audit where id > ${previous}; delete from seal where chain = 'audit' and number = ${lastSeal}; update seal_chain set (seals, upto, hash) = (select number, upto, hash from seal where chain = 'audit' order by number desc limit 1) where name = 'audit'`,
    `select format('"seal":"%s"', ${lastSeal})`,
    'needs seals',
  ],
  [
    'a charge changed and its chain rebuilt',
    `update ledger set stop_reason = 'cancelled' where request_id = ${row}; ${rebuild('ledger')}`,
    one('"table":"ledger"'),
    'needs seals',
  ],
  [
    'an audit event removed and its chain rebuilt',
    // No recorded change names a view.
    `delete from audit where id = (select min(id) from audit where action = 'clients_listed'); ${rebuild('audit')}`,
    one('"table":"audit"'),
    'needs seals',
  ],
  [
    'the checksum in a seal',
    `update seal set checksum = checksum + 1 where chain = 'ledger' and number = 1`,
    one('"table":"ledger","seal":"1"'),
  ],
  [
    'a charge and its roll-up moved to another key, with the checksums as they were',
    charge(`key_id = (select key_id from ledger where account_id = ${other} limit 1)`, follow),
    one('the checksums in the seals do not match the roll-ups'),
  ],
  ['all seals of a table removed', `delete from seal where chain = 'revision'`, one('"table":"revision"')],
  [
    'a table no longer sealed',
    `delete from seal where chain = 'price'; delete from seal_chain where name = 'price'`,
    one('"table":"price"'),
  ],
  ['the text of a note, without a revision', `update note set text = 'other'`, `select id::text from note`],
  ['the name of a client, without a revision', `update client set name = 'Other'`, `select id::text from client`],
  ['the amount of a dispute, without a revision', `update dispute set amount = 1`, `select id::text from dispute`],
  ['the status of a letter, without a revision', `update letter set status = 'sent'`, `select id::text from letter`],
  [
    'the consultant of a client, without a revision',
    `update client set consultant_id = gen_random_uuid()`,
    `select id::text from client`,
  ],
  ['a revision', `update revision set data = data || '{"text":"other"}' where number = ${noteRow}`, revision],
  [
    'a revision in the name of another person',
    `update revision set person_id = null where number = ${noteRow}`,
    revision,
  ],
  [
    'a note together with its last revision',
    `update note set text = 'other'; update revision set data = data || '{"text":"other"}' where noun = 'note' and version = 2`,
    `select id::text from note`,
  ],
  ['a revision removed', `delete from revision where number = ${noteRow}`, revision],
  [
    'the last revision and the edit undone',
    `delete from revision where noun = 'note' and version = 2; update note set text = 'first', version = 1`,
    `select format('"row":"%s"', number) from revision where noun = 'note' and version = 2`,
  ],
  ['a note removed', `delete from note`, `select id::text from note`],
  [
    'a note removed with its revisions',
    `delete from note; delete from revision where noun = 'note'`,
    `select format('"row":"%s"', ${noteRow})`,
  ],
]

const drafts: Tampering[] = [
  ['a draft removed, and its charge left', `delete from draft`, `select format('"request":"%s"', id) from draft`],
  [
    'the charge of a letter removed, with all sums',
    `delete from ledger where person_id is not null; ${follow}`,
    `select format('"draft":"%s"', id) from draft`,
  ],
  [
    'a draft moved to another author',
    `update draft set created_by = gen_random_uuid()`,
    `select format('"draft":"%s"', id) from draft`,
  ],
  [
    'a letter that a model wrote, taken for one of a person',
    `update letter set generated = false`,
    `select format('"letter":"%s"', letter_id) from draft`,
  ],
  [
    'a letter of a person, taken for one that a model wrote',
    `update letter set generated = true`,
    `select format('"letter":"%s"', id) from letter where not generated`,
  ],
]

const invoice = `select id::text from invoice where month is not null`
/** As one check names it, by the field that follows. The seals name the invoice too. */
const invoiceWith = (field: string) =>
  `select format('{"invoice":"%s","${field}":', id) from invoice where month is not null`
const document = (field: string, value: string) =>
  `update invoice_issue set document = jsonb_set(document, '{${field}}', '${value}')`
const invoices: Tampering[] = [
  [
    'a credit note of more than its invoice',
    `alter table invoice drop constraint invoice_is_valid;
      update invoice c set kind = 'credit_note', state = 'issued', credits_id = i.id, gross = i.gross + 1 from invoice i
      where c.state = 'draft' and i.state = 'issued'`,
    invoiceWith('gross'),
  ],
  ['the buyer of an invoice', `update invoice set buyer_name = 'Other'`, invoice],
  [
    'a line of an invoice',
    `update invoice_line set quantity = quantity * 2, exact = exact * 2, net = net * 2 where source = 'fee'`,
    invoice,
  ],
  [
    'a line billed by less than its ledger, with all totals, and its document',
    `update invoice_line set quantity = 1, exact = unit_price where source = 'usage' and direction = 'input';
      update invoice_issue set document = invoice_document((select i from invoice i where i.id = invoice_id))`,
    invoiceWith('account'),
  ],
  [
    'a line rounded by hand, with its invoice and its document',
    `update invoice_line set net = net + 10000000000 where source = 'fee';
      update invoice set net = net + 10000000000, gross = gross + 10000000000,
        taxes = jsonb_set(taxes, '{0,net}', to_jsonb((net + 10000000000)::text));
      update invoice_issue set document = invoice_document((select i from invoice i where i.id = invoice_id))`,
    invoiceWith('position'),
  ],
  [
    'tax that is not due, with all totals and the document',
    `update invoice set tax = tax + 10000000000, gross = gross + 10000000000,
        taxes = jsonb_set(taxes, '{0,tax}', to_jsonb((tax + 10000000000)::text));
      update invoice_issue set document = invoice_document((select i from invoice i where i.id = invoice_id))`,
    invoiceWith('net'),
  ],
  [
    'a tax that no line has, with the document',
    `update invoice set taxes = taxes || '[{"category": "E", "rate": 0, "reason": "none", "net": "0", "tax": "0"}]';
      update invoice_issue set document = invoice_document((select i from invoice i where i.id = invoice_id))`,
    invoiceWith('net'),
  ],
  ['the number of an invoice', `update invoice set number = 'INV-1' where state = 'issued'`, one('"series":"INV-')],
  [
    'an invoice removed with its lines and its document',
    `delete from invoice_issue; delete from invoice_payment; delete from billed_month; delete from invoice_line;
      delete from invoice`,
    one('"series":"INV-'),
  ],
  [
    'an invoice removed with its series',
    `delete from invoice_issue; delete from invoice_payment; delete from billed_month; delete from invoice_line;
      delete from invoice; delete from invoice_series`,
    one('"table":"invoice_issue","row":"1"'),
  ],
  ['a document', document('invoice,note', '"other"'), invoice],
  ['an invoice and its document', `update invoice set note = 'other'; ${document('invoice,note', '"other"')}`, invoice],
  ['a payment', `update invoice_payment set amount = amount / 2`, `select id::text from invoice_payment`],
  ['a payment removed', `delete from invoice_payment`, one('"table":"invoice_payment","row":"1"')],
  ['a month that is billed, without its mark', `delete from billed_month`, invoice],
  [
    'an issued invoice that was none',
    `update invoice set state = 'void', number = null, series = null, series_number = null, seller = null,
      issued_on = null, due_on = null, issued_at = null, issued_by = null`,
    invoice,
  ],
]

const gone = '(select client_id from erased_client)'
const erased = `(select min(number) from revision where client_id = ${gone} and data = '{}')`
const erasedItem = `select noun_id::text from revision where number = ${erased}`
const keptNote = `(select noun_id from revision where number = ${noteRow})`
const erasures: Tampering[] = [
  ['the contents of a revision removed', `update revision set data = '{}' where number = ${noteRow}`, revision],
  [
    'the contents of a revision removed as if its client were erased',
    `update revision set erased = (select digest from row_digests('revision', 'number', (select columns from seal where chain = 'revision' and upto >= ${noteRow} order by upto limit 1), ${noteRow} - 1, ${noteRow})), data = '{}' where number = ${noteRow}`,
    revision,
  ],
  [
    'a note removed with the contents of its revisions',
    `delete from note; update revision set data = '{}', erased = sha256('') where noun_id = ${keptNote}`,
    revision,
  ],
  [
    'a forged erasure without its events in the audit log',
    `update revision r set data = '{}', erased = (select digest from row_digests('revision', 'number', (select columns from seal where chain = 'revision' and upto >= r.number order by upto limit 1), r.number - 1, r.number)) where client_id = (select client_id from note limit 1);
      insert into erased_client (client_id, reason, scheduled_at, revisions, remains) select client_id, 'x', now(), 0, sha256('') from note limit 1`,
    `select format('"client":"%s"', client_id) from note limit 1`,
  ],
  [
    'other contents in an erased revision',
    `update revision set data = '{"text":"other"}' where number = ${erased}`,
    erasedItem,
  ],
  [
    'other contents in an erased revision whose digest is gone too',
    `update revision set data = '{"text":"other"}', erased = null where number = ${erased}`,
    erasedItem,
  ],
  [
    'the author of an erased revision',
    `update revision set person_id = null where number = ${erased}`,
    `select format('"client":"%s"', client_id) from erased_client`,
  ],
  ['the digest of an erased revision', `update revision set erased = sha256('x') where number = ${erased}`, erasedItem],
  [
    'an erased revision removed',
    `delete from revision where number = ${erased}`,
    `select format('"row":"%s"', ${erased})`,
  ],
  [
    'the reason of an erasure',
    `update erased_client set reason = 'other'`,
    `select client_id::text from erased_client`,
  ],
  ['an erasure removed', `delete from erased_client`, `select number::text from revision where number = ${erased}`],
  [
    'a name given to an erased client',
    `update client set name = 'Berta' where id = ${gone}`,
    `select client_id::text from erased_client`,
  ],
  ['a note given to an erased client', `update note set client_id = ${gone}`, `select id::text from note`],
]

const settings: Tampering[] = [
  [
    'a revoked key that is usable again',
    'update api_key set revoked_at = null where revoked_at is not null',
    'select id::text from api_key where revoked_at is not null',
  ],
  [
    'a role that nobody gave',
    `update person set role = 'partner' where name = 'Anna'`,
    `select id::text from person where name = 'Anna'`,
  ],
]

const fresh = '00000000-0000-0000-0000-0000000000af'
const named = (table: string, id: string) => `select format('"table":"${table}","id":"%s"', (${id}))`
const newestSession = 'select id from session order by id desc limit 1'
const draftInvoice = `select id from invoice where state = 'draft'`
const unannounced: Tampering[] = [
  [
    'the row of a series removed',
    'delete from invoice_series',
    named('invoice_series', 'select name from invoice_series'),
  ],
  [
    'a closed month removed with all that is unbilled',
    `delete from closed_month where month = '2026-01-01'; delete from unbilled`,
    named('closed_month', `select month from closed_month where month = '2026-01-01'`),
  ],
  [
    'a payment of a plausible amount',
    plainly(`insert into invoice_payment (id, invoice_id, date, amount, method)
      select '${fresh}', invoice_id, date, amount, method from invoice_payment limit 1`),
    one(`"table":"invoice_payment","id":"${fresh}"`),
  ],
  [
    'credit of a plausible amount, with its balance',
    plainly(`insert into credit_entry (id, account_id, amount, note) values ('${fresh}', ${payer}, 5, 'top-up');
      update account set credited = credited + 5 where id = ${payer}`),
    one(`"table":"credit_entry","id":"${fresh}"`),
  ],
  [
    'a plausible price',
    plainly(`insert into price (model, valid_from, input, output, source) values ('fast', now(), 1, 2, 'command')`),
    named('price', `select max(number) + 1 from price`),
  ],
  ['an account that becomes one of the firm', plainly(setAccount('own = true')), named('account', `select ${payer}`)],
  [
    'the limits of an account',
    plainly(setAccount('requests_per_minute = requests_per_minute + 1')),
    named('account', `select ${payer}`),
  ],
  [
    'the email address of a person',
    plainly(`update person set email = 'other@example.com', email_key = 'other@example.com' where name = 'Anna'`),
    named('person', `select id from person where name = 'Anna'`),
  ],
  [
    'the instructions of a draft',
    plainly(`update draft set instructions = 'other'`),
    named('draft', 'select id from draft'),
  ],
  [
    'a session without a sign-in',
    plainly(`insert into session (hash, id, person_id, method, factors, device, network, created_at, last_seen_at, ends_at)
      select sha256('forged'), '${fresh}', id, 'oidc', '{provider}', '', '', now(), now(), now() + interval '1 hour'
      from person where role = 'partner' limit 1`),
    one(`"table":"session","id":"${fresh}"`),
  ],
  [
    'a session that lives longer',
    `update session set ends_at = ends_at + interval '1 day'`,
    `select format('"table":"session","id":"%s","columns":"ends_at"', min(id::text)) from session`,
  ],
  [
    'a session whose person has just proved who they are',
    plainly(`update session set proven_at = now() + interval '1 second', factors = '{provider,totp}'`),
    named('session', 'select min(id::text) from session'),
  ],
  [
    'a session with another value',
    plainly(`update session set hash = sha256('forged') where id = (${newestSession})`),
    named('session', newestSession),
  ],
  ['a session removed', plainly(`delete from session where id = (${newestSession})`), named('session', newestSession)],
  [
    'a draft of an invoice',
    plainly(`insert into invoice (id, account_id, currency, decimals, net, tax, gross, taxes)
      select '${fresh}', account_id, currency, decimals, 0, 0, 0, '[]' from invoice where state = 'issued'`),
    one(`"table":"invoice","id":"${fresh}"`),
  ],
  [
    'the buyer of a draft',
    `update invoice set buyer_name = 'Other' where state = 'draft'`,
    `select format('"table":"invoice","id":"%s","columns":null', id) from invoice where state = 'draft'`,
  ],
  [
    'a line of a draft, with all totals',
    `update invoice_line set text = 'Other' where invoice_id = (${draftInvoice})`,
    `select format('"table":"invoice","id":"%s","columns":null', (${draftInvoice}))`,
  ],
  [
    'a line of a draft, for the time after its issue',
    plainly(`delete from invoice_line where invoice_id = (${draftInvoice})`),
    named('invoice_line', `select concat_ws('/', (${draftInvoice}), 1)`),
  ],
  [
    'a note and its next revision',
    plainly(`update note set text = 'other', version = version + 1`),
    named('revision', `select concat_ws('/', 'note', id, version + 1) from note`),
  ],
  [
    'the consultant of a client and its next revision',
    plainly(
      `update client set consultant_id = (select id from person where name = 'Ben'), version = version + 1 where name = 'Berg'`,
    ),
    named('revision', `select concat_ws('/', 'client', id, version + 1) from client where name = 'Berg'`),
  ],
  [
    'the limits of an account under an earlier event',
    underEvent(setAccount('requests_per_minute = requests_per_minute + 1')),
    named('account', `select ${payer}`),
  ],
  [
    'a line of a draft under an earlier event, for the time after its issue',
    underEvent(`delete from invoice_line where invoice_id = (${draftInvoice})`),
    named('invoice_line', `select concat_ws('/', (${draftInvoice}), 1)`),
  ],
  [
    'a note and its next revision under an earlier event',
    underEvent(`update note set text = 'other', version = version + 1`),
    named('revision', `select concat_ws('/', 'note', id, version + 1) from note`),
  ],
  [
    'the limits of an account, recorded by hand under an earlier event',
    recordedByHand('now()', '(select min(id) from audit)'),
    named('account', `select ${payer}`),
  ],
  [
    'the limits of an account, recorded by hand at the time of an earlier event',
    `update audit set at = at + interval '2 hours' where id = (select max(event) from recorded_change);
      ${recordedByHand('(select min(at) from audit)', '(select min(id) from audit)')}`,
    named('account', `select ${payer}`),
  ],
  [
    'the limits of an account, recorded by hand at the time of the last upgrade',
    `update audit set at = at + interval '2 days' where id = (select max(event) from recorded_change);
      ${recordedByHand('(select max(at) from migration)', 'null')}`,
    named('account', `select ${payer}`),
  ],
  [
    'the event of a recorded change',
    `update recorded_change set event = null where table_name = 'person' and number = (
      select max(number) from recorded_change where table_name = 'person')`,
    `select format('"table":"recorded_change","row":"%s"', max(number)) from recorded_change where table_name = 'person'`,
  ],
]

const attemptHash = `sha256('forged')`
const insertAttempt = (
  proof: string,
) => `insert into sign_in_attempt (state_hash, browser_hash, method, return_to, expires_at, step, person_id, proof)
  select ${attemptHash}, ${attemptHash}, 'password', '/', now() + interval '30 minutes', 'proven', id, ${proof} from person where name = 'Paula' limit 1`
const signIns: Tampering[] = [
  [
    'an email link that was not mailed',
    plainly(`insert into email_link (email_key, email, token_hash, code, state_hash, device, expires_at)
      values ('paula@firm.example x', 'paula@firm.example', ${attemptHash}, 'code', ${attemptHash}, '', now() + interval '10 minutes')`),
    one('"table":"email_link","id":"paula@firm.example x"'),
  ],
  [
    'a link for a new password that was not mailed',
    plainly(`insert into password_reset (email_key, email, token_hash, expires_at, proof)
      values ('paula@firm.example x', 'paula@firm.example', ${attemptHash}, now() + interval '10 minutes', '${'x'.repeat(50)}')`),
    one('"table":"password_reset","id":"paula@firm.example x"'),
  ],
  [
    'a sign-in that waits for a second factor without a first proof',
    plainly(insertAttempt(`'${'x'.repeat(50)}'`)),
    `select format('"table":"sign_in_attempt","id":"%s"', encode(${attemptHash}, 'hex'))`,
  ],
]

const insertRun = (month: string, set: string) =>
  plainly(`insert into invoice_run (month, busy_until, finished_at) values (${month}, ${set})`)
const lastMonth = `(date_trunc('month', now() at time zone 'UTC') - interval '1 month')::date`
const runs: Tampering[] = [
  [
    'a monthly run of a far month',
    insertRun(`'2199-01-01'`, 'now(), null'),
    one('{"month":"2199-01-01","finished_at":null'),
  ],
  [
    'a monthly run that never was',
    insertRun(`'2026-02-01'`, 'now(), now()'),
    one('{"month":"2026-02-01","finished_at":"'),
  ],
  [
    'a monthly run that no instance may continue',
    insertRun(lastMonth, `now() + interval '1 year', null`),
    `select format('{"month":"%s","finished_at":null', ${lastMonth})`,
  ],
]

const schema: Tampering[] = [
  ['a dropped index', 'drop index ledger_account_id_at_idx', one('index ledger_account_id_at_idx on ledger')],
  ['an added column', 'alter table usage_day add extra text', one('column extra of usage_day is text')],
  ['an added table', 'create table extra (a integer)', one('column a of extra is integer')],
  [
    'an added foreign table',
    `create foreign data wrapper away; create server away foreign data wrapper away;
      create foreign table extra (a integer) server away`,
    one('column a of extra is integer'),
  ],
  ['a dropped trigger', 'drop trigger append_only on audit', one('trigger append_only on audit')],
  ['a disabled trigger', 'alter table note disable trigger revised', one('trigger revised on note')],
  [
    'an added trigger',
    'create trigger extra before insert on ledger for each row execute function refuse_change()',
    one('trigger extra on ledger'),
  ],
  ['row-level security off', 'alter table note disable row level security', one('row-level security of note')],
  [
    'row-level security that spares the owner',
    'alter table client no force row level security',
    one('row-level security of client'),
  ],
  ['a dropped policy', 'drop policy own on letter', one('policy own on letter')],
  ['a widened policy', 'alter policy own on note using (true)', one('policy own on note')],
  ['an added policy', 'create policy extra on note using (true)', one('policy extra on note')],
  [
    'a right of the portal login',
    `do $$ begin execute format('grant select on session to %I', portal_role('portal')); end $$`,
    one('grant select on session to portal'),
  ],
  [
    'a right of consultants to one column',
    `do $$ begin execute format('grant update (consultant_id) on client to %I', portal_role('consultant')); end $$`,
    one('changed_at, consultant_id, days_to_pay, email'),
  ],
  ['a right of everybody', 'grant select on ledger to public', one('grant select on ledger to public')],
  [
    'the right of everybody to create temporary tables',
    `do $$ begin execute format('grant temporary on database %I to public', current_database()); end $$`,
    one('grant temporary on the database to public'),
  ],
  [
    'the right of the portal login to create temporary tables',
    `do $$ begin execute format('grant temporary on database %I to %I', current_database(), portal_role('portal')); end $$`,
    one('grant temporary on the database to portal'),
  ],
  [
    'a right to write a partition',
    `do $$ begin execute format('grant insert on ledger_default to %I', portal_role('partner')); end $$`,
    one('grant insert on ledger_default to partner'),
  ],
  [
    'the right of the owner to delete audit events',
    `do $grant$ begin execute format('grant delete on audit to %I', (select tableowner from pg_tables where tablename = 'audit')); end $grant$`,
    one('grant delete on audit to owner'),
  ],
  [
    'a right to run a function as the owner',
    `do $$ begin execute format('grant execute on function number_key() to public'); end $$`,
    one('grant execute on number_key to public'),
  ],
  [
    'a SECURITY DEFINER function without a safe search_path',
    'alter function keep_revision() reset all',
    one('keep_revision'),
  ],
  ['a function that becomes SECURITY DEFINER', 'alter function portal_person() security definer', one('portal_person')],
  [
    'a replaced function',
    'create or replace function refuse_change() returns trigger language plpgsql as $$ begin return null; end $$',
    one('refuse_change'),
  ],
  ['a dropped function', 'drop function reap', one('"function":"reap"')],
  [
    'a dropped constraint',
    'alter table account drop constraint never_negative',
    one('constraint never_negative on account'),
  ],
  [
    'a missing partition for next month',
    `do $$ begin execute format('drop table ledger_%s', to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')); end $$`,
    `select 'ledger_' || to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')`,
  ],
  [
    'a detached partition',
    `do $$ begin execute format('alter table ledger detach partition ledger_%s', to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')); end $$`,
    `select 'ledger_' || to_char((now() at time zone 'UTC') + interval '1 month', 'YYYY_MM')`,
  ],
]

/** At least one kind for each check that something here fails. `npm run endure` plants all. */
const short = new Set([
  'an email link that was not mailed',
  'a monthly run of a far month',
  'a note and its next revision under an earlier event',
  'the limits of an account under an earlier event',
  'the limits of an account, recorded by hand under an earlier event',
  'a session without a sign-in',
  'a session that lives longer',
  'a draft of an invoice',
  'a line of a draft, with all totals',
  'a line of a draft, for the time after its issue',
  'the charge of a letter removed, with all sums',
  'a draft moved to another author',
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
  'a credit note of more than its invoice',
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
  ...signIns,
  ...runs,
  ...schema,
]
const chosen = all.filter(([name]) => isEndure || short.has(name))

describe('A35 verify', () => {
  test('finds nothing in a correct database, with or without the kept seals', async () => {
    for (const options of [{ encryption }, { full: true, kept, encryption }]) {
      assertVerified(await verifyAll(filled, options))
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

  for (const [name, sql, names, needs] of chosen) {
    test(`finds and names ${name}`, async () => {
      const [wanted] = await asSuperuser(filled, (tx) => tx.rows<Record<string, string>>(names))
      const text = Object.values(wanted ?? {}).join('')
      assert.notEqual(text, '')
      if (needs) assert.deepEqual(await find({ sql }), [], 'found without the seals')
      const found = textOf(await find({ sql, ...(needs && { kept }) }))
      assert.ok(found.includes(text), `${text} is not in ${found}`)
    })
  }

  test('has each kind of the short form', () => assert.ok(isEndure || chosen.length === short.size))
})
