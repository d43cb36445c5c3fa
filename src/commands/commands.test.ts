import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { createServer } from 'node:net'
import { existsSync, readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { pino } from 'pino'
import { assertBetween } from '../../tests/support/clock.ts'
import { detail } from '../../tests/support/detail.ts'
import { parseObject } from '../../tests/support/json.ts'
import { tamper } from '../../tests/support/tamper.ts'
import {
  statusUnread,
  tollgate,
  tollgateCutOff,
  tollgateHere,
  tollgateInto,
  type Outcome,
} from '../../tests/support/command-line.ts'
import { createTestDatabase } from '../../tests/support/database.ts'
import { setUp, temporaryFolder } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { listen } from '../../tests/support/server.ts'
import { createKeys } from '../accounts/keys/keys.ts'
import { openEmbedded } from '../platform/embedded-postgres/embedded-postgres.ts'
import { migrate } from '../platform/database/migrations.ts'
import { version } from '../platform/version.ts'
import { checkRuntime } from './doctor/host.ts'
import { runCommand } from './run.ts'

const log = pino({ level: 'silent' })
const folder = temporaryFolder()
let environment: Record<string, string>

const { own: home, database } = openOwnDatabase(log)
setUp(async () => {
  await writeFile(path.join(folder, 'tollgate.yaml'), configuration)
  environment = {
    DATABASE_URL: home.url,
    TOLLGATE_DATA: folder,
    TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml'),
    PORT: '0',
  }
})

const instanceId = '01981f3a-0000-7000-8000-0000000000aa'
const configuration = `
models:
  - id: far
    engine: openai
    endpoints: [{ url: "http://127.0.0.1:9/v1" }]
    upstream_model: m
    context: 4096
    max_output_tokens: 512
    price: { input: "0.10", output: "0.40" }
  - { id: unpriced, engine: local, file: missing.gguf, context: 64, max_output_tokens: 32 }
  - id: vectors
    engine: openai
    kind: embeddings
    endpoints: [{ url: "http://127.0.0.1:9/v1" }]
    upstream_model: e
    context: 4096
    price: { input: "0.02" }
aliases: { quick: far }
limits: { requests_per_minute: 7, tokens_per_minute: 900 }
`

const run = (...args: string[]) => tollgateHere(args, environment)

/** Runs a command that must succeed. Returns its JSON output; stderr must be empty. */
async function json(...args: string[]): Promise<Record<string, unknown>> {
  const outcome = await run(...args, '--json')
  assert.deepEqual({ status: outcome.status, stderr: outcome.stderr }, { status: 0, stderr: '' }, args.join(' '))
  return parse(outcome)
}
function parse({ stdout }: Outcome): Record<string, unknown> {
  const parsed: unknown = JSON.parse(stdout)
  assert.ok(isRecord(parsed))
  return parsed
}
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
function listOf(document: Record<string, unknown>, name: string): Record<string, unknown>[] {
  const list = document[name]
  assert.ok(Array.isArray(list) && list.every(isRecord))
  return list
}

/** Refused: status 1, nothing on stdout, one line on stderr and no stack. */
function assertRefused({ status, stdout, stderr }: Outcome, words: RegExp): void {
  assert.equal(status, 1, stderr)
  assert.equal(stdout, '')
  assert.match(stderr, words)
  assert.match(stderr, /^[^\n]+\n$/)
  assert.doesNotMatch(stderr, /\.ts:\d|unexpected/i)
}

/** Another database, with a connection to it, and the environment of commands that use it. */
async function openOther(t: TestContext, options = {}) {
  const own = await createTestDatabase(options)
  const client = new Client(own.url)
  await client.connect()
  t.after(async () => {
    await client.end()
    await own.drop()
  })
  return { at: { ...environment, DATABASE_URL: own.url }, client }
}

/** Usage without the cache of a vendor. */
const uncached = { cached_tokens: 0, cache_write_tokens: 0 }

test('as a process: JSON alone on stdout, one line on stderr, and the exit status', async () => {
  const listed = await tollgate(['account', 'list', '--json'], environment)
  assert.deepEqual(listed, { status: 0, stdout: '{"accounts":[]}\n', stderr: '' })
  assertRefused(
    await tollgate(['account', 'show', 'Nobody', '--json'], environment),
    /No account has the name or id "Nobody"/,
  )
})

const full = '/dev/full'
test('output that cannot be written is one line and status 1', { skip: !existsSync(full) }, async () => {
  assertRefused(await tollgateInto(full, ['account', 'list', '--json'], environment), /could not be written/)
})

detail(
  'errors that nobody can read change no exit status and leave no database',
  { skip: !existsSync(full) },
  async (t) => {
    const data = path.join(folder, 'unread')
    const { DATABASE_URL: _, ...others } = environment
    const embedded = { ...others, TOLLGATE_DATA: data }
    assert.equal((await tollgateHere(['migrate'], embedded)).status, 0)
    const pid = path.join(data, 'postgres/postmaster.pid')
    t.after(() => {
      if (existsSync(pid)) process.kill(Number(readFileSync(pid, 'utf8').split('\n')[0]), 'SIGQUIT')
    })
    assert.equal(await statusUnread(full, ['account', 'show', 'Nobody'], embedded), 1)
    assert.ok(!existsSync(pid), 'the database still runs')
    assert.equal(await statusUnread(full, ['account', 'shwo'], embedded), 2)
  },
)

test('the empty states say what to do next', async () => {
  for (const [command, words] of [
    ['account list', /No accounts yet\. Create one: \.\/tollgate account create --name/],
    ['key list', /No keys yet\. Create one: \.\/tollgate key create/],
    ['price list', /No prices yet\. Set one: \.\/tollgate price set/],
  ] as const) {
    const { status, stdout } = await run(...command.split(' '))
    assert.equal(status, 0)
    assert.match(stdout, words)
  }
  assert.deepEqual(await json('account', 'list'), { accounts: [] })
})

test('the life of an account', async () => {
  const made = await json('account', 'create', '--name', 'Acme', '--rpm', '60', '--tpm', '100000', '--credit', '25.00')
  assert.equal(made['name'], 'Acme')
  assert.equal(made['credit_left'], '25')
  assert.deepEqual([made['requests_per_minute'], made['tokens_per_minute']], [60, 100_000])
  const id = String(made['id'])
  assert.deepEqual(await json('account', 'show', 'Acme'), made)
  assert.equal((await json('account', 'credit', id, '0.000000000001'))['credit_left'], '25.000000000001')
  assert.equal((await json('account', 'credit', id, '-25', '--note', 'paid back'))['credit_left'], '0.000000000001')
  const limited = await json('account', 'limit', id, '--rpm', '5')
  assert.deepEqual([limited['requests_per_minute'], limited['tokens_per_minute']], [5, 100_000])
  const slower = await json('account', 'limit', id, '--tpm', '6000')
  assert.deepEqual([slower['requests_per_minute'], slower['tokens_per_minute']], [5, 6000])
  assert.equal((await json('account', 'close', id))['status'], 'closed')
  const { stdout } = await run('account', 'list')
  assert.match(
    stdout,
    /^NAME +STATUS +CREDIT LEFT \(USD\) +HELD \(USD\) +THIS MONTH \(USD\) +REQUESTS\/MIN +TOKENS\/MIN +ID\n/,
  )
  assert.match(stdout, new RegExp(`\nAcme +closed +0\\.000000000001 +0\\.00 +0\\.00 +5 +6,000 +${id}\n`))
})

test("A39 an account is marked as the firm's own when it is created or later", async () => {
  assert.equal((await json('account', 'create', '--name', 'Portal', '--own'))['own'], true)
  assert.equal((await json('account', 'own', 'Portal', '--off'))['own'], false)
  assert.equal((await json('account', 'own', 'Portal'))['own'], true)
  assert.match(
    (await run('account', 'show', 'Portal')).stdout,
    /^Firm's own {5}yes: its requests may be attributed to clients$/m,
  )
  assert.equal((await json('account', 'create', '--name', 'Foreign'))['own'], false)
  assert.doesNotMatch((await run('account', 'show', 'Foreign')).stdout, /own/)
})

test('an account has billing details, of which an empty one is removed', async () => {
  await json('account', 'create', '--name', 'Billed')
  const given = ['--address', '1 High Street', 'Bristol', '--email', 'bills@acme.example']
  const billed = await json('account', 'billing', 'Billed', ...given)
  assert.deepEqual(
    [billed['billing_name'], billed['billing_address'], billed['billing_email']],
    [null, '1 High Street\nBristol', 'bills@acme.example'],
  )
  assert.match((await run('account', 'show', 'Billed')).stdout, /Address +1 High Street, Bristol\nEmail +bills@acme/)
  const { stdout } = await run('account', 'billing', 'Billed', '--email', '', '--name', 'Billed Ltd')
  assert.match(stdout, /Billed to +Billed Ltd\nAddress +1 High Street, Bristol\n$/)
})

test('an account gets its limits from the configuration', async () => {
  const prepaid = await json('account', 'create', '--name', 'Defaults')
  assert.deepEqual([prepaid['requests_per_minute'], prepaid['tokens_per_minute']], [7, 900])
  assert.deepEqual([prepaid['credit_left'], prepaid['monthly_limit']], ['0', null])
  const postpaid = await json('account', 'create', '--name', 'Monthly', '--monthly-limit', '90.00')
  assert.deepEqual([postpaid['credit_left'], postpaid['monthly_limit']], ['90', '90'])
  const raised = await json('account', 'limit', 'Monthly', '--monthly-limit', '100.00')
  assert.deepEqual([raised['credit_left'], raised['monthly_limit'], raised['tokens_per_minute']], ['100', '100', 900])
})

test('a key is shown once and works until it is rotated or revoked', async () => {
  const { id: accountId } = await json('account', 'create', '--name', 'Keys')
  const made = await json(
    'key',
    'create',
    '--account',
    'Keys',
    '--name',
    'backend',
    '--models',
    'far,quick',
    '--expires',
    '90d',
  )
  assert.deepEqual(made['allowed_models'], ['far', 'quick'])
  const keys = createKeys({ database, log })
  const codeOf = (key: unknown) =>
    Promise.resolve(keys.identify(`Bearer ${String(key)}`)).then(
      (caller) => caller.accountId,
      (error: { code?: unknown }) => error.code,
    )
  try {
    assert.equal(await codeOf(made['key']), accountId)
    const rotated = await json('key', 'rotate', String(made['id']), '--overlap', '0s')
    assert.equal(rotated['replaces'], made['id'])
    assert.equal(await codeOf(rotated['key']), accountId)
    assert.deepEqual(await json('key', 'revoke', String(rotated['id'])), { id: rotated['id'], revoked: true })

    const listed = await run('key', 'list', '--account', 'Keys', '--json')
    const [old, next] = listOf(parse(listed), 'keys')
    assert.deepEqual([old?.['status'], old?.['replaced_by'], next?.['status']], ['expired', rotated['id'], 'revoked'])
    const table = await run('key', 'list')
    for (const secret of [made['key'], rotated['key']].map((key) => String(key).slice(16, 59))) {
      assert.ok(!listed.stdout.includes(secret) && !table.stdout.includes(secret), 'a list shows no secret')
    }
  } finally {
    await keys.close()
  }
})

test('key list shows the keys of one account, and a rotated key stays valid for a day by default', async () => {
  for (const name of ['One', 'Two']) await json('account', 'create', '--name', name)
  const [one, two] = await Promise.all(
    ['One', 'Two'].map((account) => json('key', 'create', '--account', account, '--name', 'backend')),
  )
  const idsOf = async (account: string) =>
    listOf(await json('key', 'list', '--account', account), 'keys').map(({ id }) => id)
  assert.deepEqual([await idsOf('One'), await idsOf('Two')], [[one?.['id']], [two?.['id']]])
  const began = Date.now()
  await json('key', 'rotate', String(one?.['id']))
  const [old] = listOf(await json('key', 'list', '--account', 'One'), 'keys')
  assertBetween(old?.['expires_at'], began + 86_400_000, Date.now() + 86_400_000)
})

test('budgets are created, listed, changed, raised and removed by name or id', async () => {
  const account = ['--account', 'Sharing']
  await json('account', 'create', '--name', 'Sharing')
  const none = await run('budget', 'list', ...account)
  assert.match(none.stdout, /No budgets yet\. Create one: \.\/tollgate budget create --account Sharing /)
  const [one, two] = await Promise.all(['a', 'b'].map((name) => json('key', 'create', ...account, '--name', name)))
  const keys = [String(one?.['id']), String(two?.['id'])].toSorted()
  const team = ['--name', 'Team', '--amount', '50.00', '--period', 'month', '--keys', keys.join(',')]
  const made = await json('budget', 'create', ...account, ...team)
  assert.deepEqual([made['keys'], made['hard'], made['limit'], made['period']], [keys, true, '50', 'month'])
  const apollo = ['--name', 'Apollo', '--amount', '2000', '--period', 'total', '--tag', 'project=a=b', '--soft']
  const created = await run('budget', 'create', ...account, ...apollo, '--time-zone', 'UTC')
  assert.match(created.stdout, /^Apollo \(soft: it refuses nothing\): 0\.00 of 2,000\.00 \w{3} in total\.\n$/)
  const [first, second] = listOf(await json('budget', 'list', ...account), 'budgets')
  assert.deepEqual([first?.['tag'], second?.['id']], [{ name: 'project', value: 'a=b' }, made['id']])
  const table = (await run('budget', 'list', ...account)).stdout
  assert.match(table, /Apollo +project=a=b +0\.00 of 2,000\.00 \w{3} in total +soft +never/)
  assert.match(table, /Team +2 keys +0\.00 of 50\.00 \w{3} per month +hard +\d{4}-/)

  const changed = await json('budget', 'change', 'team', ...account, '--amount', '60', '--soft', '--name', 'Crew')
  assert.deepEqual([changed['name'], changed['amount'], changed['hard'], changed['keys']], ['Crew', '60', false, keys])
  assert.equal((await json('budget', 'change', 'Crew', ...account, '--hard'))['hard'], true)
  const raised = await json('budget', 'raise', String(made['id']), ...account, '--by', '20')
  assert.deepEqual([raised['limit'], raised['raised_until']], ['80', raised['renews_at']])
  const longer = await run('budget', 'raise', 'Crew', ...account, '--by', '5', '--until', '2099-01-01')
  assert.match(longer.stdout, /of 65\.00 \w{3} per month\. Raised by 5\.00 \w{3} until 2099-01-01 /)
  const late = await run('budget', 'raise', 'Apollo', ...account, '--by', '5')
  assert.deepEqual([late.status, late.stdout], [1, ''])
  assert.match(late.stderr, /never renewed: say when the raise ends/)
  assert.equal((await run('budget', 'remove', 'Crew', ...account)).stdout, 'Removed Crew.\n')
  assert.match((await run('budget', 'remove', 'Crew', ...account)).stderr, /no budget with the id or the name "Crew"/)
  const unknown = await run('budget', 'create', ...account, ...team.toSpliced(7, 1, randomUUIDv7()))
  assert.deepEqual([unknown.status, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /This account has no key with the id/)
})

test('batch list shows how far open batches are, and those that ended in the last days', async () => {
  const shown = /No batch is open or ended in the last 7 days\./
  assert.match((await run('batch', 'list')).stdout, shown)
  const ids: string[] = []
  for (const name of ['Queueing', 'Waiting']) {
    const { id: accountId } = await json('account', 'create', '--name', name)
    const { id: keyId } = await json('key', 'create', '--account', name, '--name', 'backend')
    for (const [dialect, status, ended, waits] of [
      ['anthropic', 'in_progress', null, 'limits'],
      ['openai', 'completed', '6 days', null],
      ['openai', 'expired', '8 days', null],
      ['openai', 'arriving', null, null],
    ] as const) {
      ids.push(randomUUIDv7())
      await database.rows(
        `insert into batch (id, account_id, key_id, dialect, endpoint, status, lines, succeeded, failed, expires_at, kept, ended_at, next_at, waits_for)
         values ($1, $2, $3, $4, '/v1/responses', $5, 1200, 1100, 3, now(), '1 day', now() - $6::interval, now() + interval '1 hour', $7)`,
        [ids.at(-1), accountId, keyId, dialect, status, ended, waits],
      )
    }
  }
  const [open, completed] = ids.slice(4).map((id) => id.replaceAll('-', ''))
  const batches = listOf(await json('batch', 'list', '--account', 'Waiting'), 'batches')
  assert.deepEqual(
    batches.map((each) => each['batch_id']),
    [`batch_${completed}`, `msgbatch_${open}`],
  )
  const { dialect, status, lines, succeeded, failed, waits_for: waits, ended_at: endedAt } = batches[1] ?? {}
  assert.deepEqual(
    [dialect, status, lines, succeeded, failed, waits, endedAt],
    ['anthropic', 'in_progress', 1200, 1100, 3, 'limits', null],
  )
  assert.deepEqual([batches[0]?.['waits_for'], typeof batches[0]?.['ended_at']], [null, 'string'])
  const table = (await run('batch', 'list')).stdout
  assert.match(table, /ID +ACCOUNT +DIALECT +STATUS +DONE +FAILED +LINES +WAITS FOR +CREATED +ENDED\n/)
  assert.match(
    table,
    new RegExp(`msgbatch_${open} +Waiting +anthropic +in_progress +1,100 +3 +1,200 +limits +\\d{4}-.* -\n`),
  )
  assert.equal(table.split('\n').length, 6)
  // They have no lines, which `verify` would find.
  await database.rows('delete from batch')
})

test('the limits of a key are set when it is created, changed, removed and listed', async () => {
  const account = ['--account', 'Limited']
  await json('account', 'create', '--name', 'Limited')
  const limits = ['--daily-budget', '1.50', '--monthly-budget', '20', '--rpm', '30', '--tpm', '4000']
  const { id } = await json('key', 'create', ...account, '--name', 'small', ...limits)
  await json('key', 'create', ...account, '--name', 'free')
  const shown = { daily_budget: '1.5', monthly_budget: '20', requests_per_minute: 30, tokens_per_minute: 4000 }
  const [key, free] = listOf(await json('key', 'list', ...account), 'keys')
  assert.deepEqual(Object.fromEntries(Object.keys(shown).map((name) => [name, key?.[name]])), shown)
  assert.deepEqual([key?.['charged_today'], free?.['charged_today'], free?.['daily_budget']], ['0', null, null])
  const table = (await run('key', 'list', ...account)).stdout
  assert.match(table, /LIMITS/)
  assert.match(
    table,
    /small .* 0\.00 of 1\.50 \w{3} today, 0\.00 of 20\.00 \w{3} this month, 30 requests\/min, 4,000 tokens\/min/,
  )
  const changed = await json(
    'key',
    'limit',
    String(id),
    '--daily-budget',
    '2',
    '--monthly-budget',
    'none',
    '--rpm',
    'none',
  )
  assert.deepEqual(
    [changed['daily_budget'], changed['monthly_budget'], changed['tokens_per_minute']],
    ['2', null, 4000],
  )
  const last = await run('key', 'limit', String(id), '--daily-budget', 'none', '--tpm', 'none')
  assert.match(last.stdout, /Limits of small: only those of its account\./)
  assert.doesNotMatch((await run('key', 'list', ...account)).stdout, /LIMITS/)
  const nothing = await run('key', 'limit', String(id))
  assert.equal(nothing.status, 2)
  assert.match(nothing.stderr, /name at least one limit/)
  for (const wrong of [
    ['--rpm', '0'],
    ['--daily-budget', 'much'],
    ['--tpm', '1.5'],
  ]) {
    assert.equal((await run('key', 'limit', String(id), ...wrong)).status, 2, wrong.join(' '))
  }
})

test('a key needs an account, and one for models that are not configured is created with a warning', async () => {
  const keys = await json('key', 'list')
  const homeless = await run('key', 'create', '--name', 'homeless', '--json')
  assert.deepEqual({ status: homeless.status, stdout: homeless.stdout }, { status: 2, stdout: '' })
  assert.match(homeless.stderr, /--account <account>/)
  assert.deepEqual(await json('key', 'list'), keys)
  const other = await run('key', 'create', '--account', 'Keys', '--name', 'x', '--models', 'far,nonsense', '--json')
  assert.match(other.stderr, /Not in the configuration yet: nonsense\./)
})

test('no key is created or rotated if it cannot be shown', { skip: !existsSync(full) }, async () => {
  const { id } = await json('key', 'create', '--account', 'Keys', '--name', 'seen')
  const keys = await json('key', 'list')
  const create = ['key', 'create', '--account', 'Keys', '--name', 'unseen']
  const [unseen, unwritten] = [
    /nobody would see the key\. None was created/,
    /could not be written, so none was created/,
  ]
  for (const [file, words, args] of [
    ['/dev/null', unseen, [...create, '--json']],
    [full, unwritten, ['key', 'rotate', String(id)]],
  ] as const) {
    const { status, stderr } = await tollgateInto(file, args, environment)
    assert.equal(status, 1)
    assert.match(stderr, words)
  }
  assert.deepEqual(await json('key', 'list'), keys)
})

/** The cell of a table's line in the column of this title. */
const cellOf = (line = '', title: string, header = '') => line.slice(header.indexOf(title)).split(/ {2,}/)[0]

test('lists show account names, and columns of amounts have consistent decimals and a total', async () => {
  const own = await createTestDatabase()
  const at = { ...environment, DATABASE_URL: own.url }
  const lines = async (...args: string[]) => {
    const { status, stdout, stderr } = await tollgateHere(args, at)
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
    return stdout.trimEnd().split('\n')
  }
  await lines('account', 'create', '--name', 'Acme', '--credit', '25')
  await lines('account', 'create', '--name', 'Berg & Sons', '--credit', '0.123456')
  await lines('key', 'create', '--account', 'Acme', '--name', 'backend', '--models', 'quick')
  const [header, ...accounts] = await lines('account', 'list')
  assert.deepEqual(
    accounts.map((line) => line.split(/ {2,}/).slice(0, 3)),
    [
      ['Acme', 'open', '25.000000'],
      ['Berg & Sons', 'open', '0.123456'],
      ['Total', '25.123456', '0.00'],
    ],
  )
  assert.match(String(header), /^NAME +STATUS +CREDIT LEFT \(USD\)/)
  const [keyHeader, key] = await lines('key', 'list')
  assert.equal(cellOf(key, 'ACCOUNT', keyHeader), 'Acme')
  assert.equal(cellOf(key, 'MODELS', keyHeader), 'quick')

  const client = new Client(own.url)
  await client.connect()
  await client.query(
    `insert into usage_day (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost)
     select '2030-01-01', id, id, 'far', 2, 20, 2, case name when 'Acme' then 1500000000000 else 250000 end from account`,
  )
  await client.end()
  const [, ...usage] = await lines('usage')
  assert.deepEqual(
    usage.map((line) => line.split(/ {2,}/)),
    [
      ['Acme', '2', '20', '2', '1.50000000'],
      ['Berg & Sons', '2', '20', '2', '0.00000025'],
      ['Total', '4', '40', '4', '1.50000025'],
    ],
  )
  const [document] = await lines('usage', '--json')
  const { accounts: listed, ...total } = parse({ status: 0, stdout: String(document), stderr: '' })
  assert.deepEqual(total, { requests: 4, input_tokens: 40, ...uncached, output_tokens: 4, cost: '1.50000025' })
  assert.ok(Array.isArray(listed) && listed.length === 2)
  await own.drop()
})

test('a price takes effect at once or later', async () => {
  const set = await json('price', 'set', 'far', '--input', '0.15', '--output', '0.60')
  assert.deepEqual([set['model'], set['input'], set['output']], ['far', '0.15', '0.6'])
  await json('price', 'set', 'far', '--input', '1', '--output', '2', '--from', '2099-01-01')
  const prices = listOf(await json('price', 'list'), 'prices')
  assert.deepEqual(
    prices.map(({ state, valid_from: from }) => [state, from === '2099-01-01T00:00:00.000Z']),
    [
      ['to come', true],
      ['in force', false],
      ['past', false],
    ],
  )
  assertRefused(await run('price', 'set', 'far', '--input', '2', '--output', '1'), /Output must cost more than input/)
  assertRefused(
    await run('price', 'set', 'quick', '--input', '1', '--output', '2'),
    /^quick is an alias of far: set the price of far\.$/m,
  )
  assert.equal(listOf(await json('price', 'list'), 'prices').length, 3)
})

const setRuled = (...more: string[]) => run('price', 'set', 'ruled', '--input', '1', '--output', '2', ...more)

test('a price with rules is not replaced by one without, unless they are left out on purpose', async () => {
  const rules = path.join(folder, 'rules.yaml')
  await writeFile(rules, 'steps: [{ above: 1000, input: "2", output: "4" }]\nimage: "0.01"\n')
  assert.equal((await setRuled()).status, 0)
  assert.equal((await setRuled('--from', '2099-01-01', '--rules', rules)).status, 0)
  assert.equal((await setRuled('--from', '2098-01-01')).status, 0, 'one before it loses nothing')
  assertRefused(await setRuled('--from', '2100-01-01'), /ruled that is scheduled also has steps, image: .*--no-rules/)
  assert.equal((await setRuled('--from', '2100-01-01', '--no-rules')).status, 0)
  assert.equal((await setRuled('--rules', rules)).status, 0)
  assertRefused(await setRuled(), /ruled in force also has steps, image/)
  const prices = listOf(await json('price', 'list'), 'prices').filter(({ model }) => model === 'ruled')
  assert.deepEqual(
    prices.map(({ image }) => image),
    [undefined, '0.01', undefined, '0.01', undefined],
  )
})

test('a price of embeddings has input only', async () => {
  const { valid_from: _, ...set } = await json('price', 'set', 'vectors', '--input', '0.03')
  assert.deepEqual(set, { model: 'vectors', input: '0.03', output: '0' })
  const { stdout } = await run('price', 'set', 'vectors', '--input', '0.04')
  assert.match(stdout, /^vectors costs 0\.04\S* \S+ per million input tokens from /)
  const cached = await run('price', 'set', 'vectors', '--input', '1', '--cached-input', '0.1')
  assertRefused(cached, /An embedding model has only an input price/)
})

async function cacherInForce() {
  const prices = listOf(await json('price', 'list'), 'prices')
  const { input, output, cached_input, cache_write } =
    prices.find(({ model, state }) => model === 'cacher' && state === 'in force') ?? assert.fail()
  return { input, output, cached_input, cache_write }
}

test('a price may have parts for a prompt cache', async () => {
  // The model is not in the configuration, so the command warns.
  const set = async (...parts: string[]) => {
    const { stdout } = await run('price', 'set', 'cacher', '--input', '1', '--output', '2', ...parts, '--json')
    const { valid_from: _, ...price } = parseObject(stdout)
    return price
  }
  const parts = { input: '1', output: '2', cached_input: '0.1', cache_write: '1.25' }
  assert.deepEqual(await set('--cached-input', '0.1', '--cache-write', '1.25'), { model: 'cacher', ...parts })
  assert.deepEqual(await cacherInForce(), parts)
  assert.deepEqual(await set(), { model: 'cacher', input: '1', output: '2' })
  assert.deepEqual(await cacherInForce(), { input: '1', output: '2', cached_input: undefined, cache_write: undefined })
  assert.match((await run('price', 'list')).stdout, /CACHED INPUT.*CACHE WRITE/)
})

test('model list shows models, and why one is not callable', async () => {
  const [far, unpriced] = listOf(await json('model', 'list'), 'models')
  assert.deepEqual(far, {
    id: 'far',
    engine: 'openai',
    aliases: ['quick'],
    context: 4096,
    max_output_tokens: 512,
    price: { input: '0.15', output: '0.6' },
    callable: true,
    fault: null,
  })
  assert.deepEqual([unpriced?.['price'], unpriced?.['callable']], [null, false])
  assert.match(String(unpriced?.['fault']), /missing\.gguf/)
})

test('usage and ledger are exact, complete as JSON and limited on a terminal', async () => {
  const { id } = await json('account', 'create', '--name', 'Busy')
  await database.rows(
    `with made as (
       insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price,
         output_price, cached_tokens, cached_price, cache_write_tokens, cost, stop_reason, usage_source,
         uncharged_input, uncharged_output)
       select now() - n * interval '1 s', gen_random_uuid(), $1::uuid, $1::uuid, 'far', 10, 1, 100000,
         400001, 4, 10000, 5, 1940001, 'complete', 'upstream', 3, 2 from generate_series(1, 6000) n returning at, cost)
     insert into usage_day (day, account_id, key_id, model, requests, input_tokens, output_tokens, cached_tokens,
         cache_write_tokens, cost)
       select at::date, $1, $1, 'far', count(*), count(*) * 10, count(*), count(*) * 4, count(*) * 5, sum(cost)
       from made group by at::date`,
    [id],
  )
  const used = {
    requests: 6000,
    input_tokens: 114_000,
    cached_tokens: 24_000,
    cache_write_tokens: 30_000,
    output_tokens: 6000,
    cost: '0.011640006',
  }
  assert.deepEqual(await json('usage', '--account', 'Busy'), used)
  assert.equal((await json('usage', '--account', 'Busy', '--to', '2020-01-01'))['requests'], 0)
  const oneDay = ['usage', '--account', 'Busy', '--from', '2020-01-01', '--to', '2020-01-01']
  assert.equal((await json(...oneDay))['requests'], 0, 'a period of one day')
  const table = (await run('usage', '--account', 'Busy')).stdout
  assert.doesNotMatch(table, /Total/, 'the only row is the total')
  assert.match(table, / INPUT TOKENS {2}CACHED {2}CACHE WRITES {2}OUTPUT TOKENS .*\n.* 114,000 +24,000 +30,000 +6,000 /)

  const rows = listOf(await json('ledger', '--account', 'Busy'), 'rows')
  assert.equal(rows.length, 6000)
  assert.equal(new Set(rows.map((row) => row['request_id'])).size, 6000)
  const { at, request_id: requestId, ...row } = rows[0] ?? assert.fail()
  assert.ok(new Date(String(at)).getTime() > new Date(String(rows[1]?.['at'])).getTime(), 'newest first')
  assert.match(String(requestId), /^[0-9a-f-]{36}$/)
  assert.deepEqual(row, {
    key_id: id,
    person_id: null,
    model: 'far',
    client_id: null,
    input_tokens: 10,
    output_tokens: 1,
    cached_tokens: 4,
    cache_write_tokens: 5,
    input_price: '0.1',
    output_price: '0.400001',
    cached_price: '0.01',
    cache_write_price: null,
    cost: '0.000001940001',
    stop_reason: 'complete',
    usage_source: 'upstream',
    uncharged_input: 3,
    uncharged_output: 2,
    tags: null,
  })
  assert.equal(listOf(await json('ledger', '--account', 'Busy', '--limit', '5500'), 'rows').length, 5500)
  const first = rows[0] ?? assert.fail()
  assert.deepEqual(await json('ledger', '--request', String(requestId).toUpperCase()), { rows: [first] })
  assert.equal(listOf(await json('ledger', '--key', String(id)), 'rows').length, 6000)
  assert.deepEqual(await json('ledger', '--key', String(requestId)), { rows: [] })
  assert.deepEqual(await json('ledger', '--request', String(requestId), '--account', 'Keys'), { rows: [] })
  assert.match((await run('ledger', '--request', String(requestId))).stdout, new RegExp(`Z  ${String(requestId)}  far`))
  assert.deepEqual(await json('ledger', '--account', 'Busy', '--to', '2020-01-01'), { rows: [] })
  const { stdout } = await run('ledger', '--account', 'Busy')
  assert.equal(stdout.split('\n').filter((line) => line.includes('upstream')).length, 50)
  assert.match(stdout, /There are more rows/)
  const all = await run('ledger', '--account', 'Busy', '--limit', '6000')
  assert.doesNotMatch(all.stdout, /There are more rows/)
  assert.deepEqual(await readLedger(new PassThrough()), { status: 0, stderr: '', listeners: 0 })
  assert.deepEqual(await tollgateCutOff(['ledger', '--account', 'Busy', '--json'], environment), {
    status: 0,
    stdout: '',
    stderr: '',
  })
  await tamper(database, 'truncate ledger, usage_day')
})

/** Writes the whole ledger as JSON to a stream. Returns the listeners left on it. */
async function readLedger(stdout: Writable) {
  const count = () => ['drain', 'close', 'error'].reduce((sum, name) => sum + stdout.listenerCount(name), 0)
  if (stdout instanceof PassThrough) stdout.resume()
  const own = count()
  let stderr = ''
  const said = new Writable({
    write(chunk, _encoding, done) {
      stderr += String(chunk)
      done()
    },
  })
  const root = path.join(import.meta.dirname, '../..')
  const args = ['ledger', '--account', 'Busy', '--json']
  const status = await runCommand(args, { environment, root, stdout, stderr: said })
  return { status, stderr, listeners: count() - own }
}

test('verify refuses the database of another program in one line', async () => {
  const foreign = await createTestDatabase({ empty: true })
  const other = new Client(foreign.url)
  await other.connect()
  for (const table of ['ledger (id integer)', 'migration (id integer, name text)']) {
    await other.query(`create table ${table}`)
    const outcome = await tollgateHere(['verify'], { ...environment, DATABASE_URL: foreign.url })
    assertRefused(outcome, /^The database has tables, but they are not of Tollgate: check its address\./)
  }
  await other.end()
  await foreign.drop()
})

test('verify confirms correct books, and names the rows at fault otherwise', async () => {
  assert.equal((await json('verify'))['ok'], true)
  await database.rows(`update account set charged = charged + 1 where name = 'Monthly'`)
  const { status, stdout, stderr } = await run('verify', '--json')
  await database.rows(`update account set charged = charged - 1 where name = 'Monthly'`)
  assert.equal(status, 1)
  assert.match(stderr, /^Verification failed: [^\n]+\n$/)
  const wrong = listOf(parse({ status, stdout, stderr }), 'checks').filter(({ ok }) => ok === false)
  assert.equal(wrong.length, 1)
  assert.match(JSON.stringify(wrong[0]?.['faults']), /"charged":"1"/)
})

test('verify checks every given seal', async () => {
  const seals = ['1', '2'].map((number) => `ledger:${number}:9:${number.repeat(64)}`)
  const { status, stdout, stderr } = await run('verify', ...seals.flatMap((seal) => ['--seal', seal]))
  assert.equal(status, 1)
  assert.match(stderr, /^Verification failed: the chains contain the given seals/)
  for (const seal of seals) assert.ok(stdout.includes(seal), stdout)
})

test('verify allows a hold the age of the longest request and an hour', async () => {
  const { id } = await json('account', 'create', '--name', 'Held', '--credit', '1')
  const { id: keyId } = await json('key', 'create', '--account', 'Held', '--name', 'k')
  await tamper(
    database,
    `insert into instance (id, host) values ('${instanceId}', 'h');
     insert into hold (id, account_id, key_id, instance_id, model, input_tokens, max_output_tokens, input_price,
       output_price, cost, created_at)
     values ('${instanceId}', '${String(id)}', '${String(keyId)}', '${instanceId}', 'far', 1, 1, 1, 2, 3, now());
     update account set held = 3 where id = '${String(id)}'`,
  )
  const verdictAt = async (age: string) => {
    await tamper(database, `update hold set created_at = now() - interval '${age}' where id = '${instanceId}'`)
    return (await run('verify')).stderr
  }
  // The model `far` may take five minutes.
  assert.equal(await verdictAt('64 minutes'), '')
  assert.match(await verdictAt('66 minutes'), /^Verification failed: /)
  await tamper(
    database,
    `delete from hold; delete from instance where id = '${instanceId}'; update account set held = 0 where held = 3`,
  )
})

test("amounts have the currency's decimals, and more if necessary", async () => {
  const file = path.join(folder, 'currency.yaml')
  for (const [currency, credit, none, price] of [
    ['JPY', '2,500', '0', '0.6'],
    ['KWD', '2,500.000', '0.000', '0.600'],
    ['ABC', '2,500.00', '0.00', '0.60'],
  ] as const) {
    await writeFile(file, `currency: ${currency}\n${configuration}`)
    const show = async (...args: string[]) =>
      (await tollgateHere(args, { ...environment, TOLLGATE_CONFIG: file })).stdout.replaceAll(/ +/g, ' ')
    const name = `In_${currency}`
    const made = await show('account', 'create', '--name', name, '--credit', '2500.00')
    assert.ok(made.includes(`\nCredit left ${credit} ${currency}\nHeld ${none} ${currency}\n`), made)
    assert.match(await show('account', 'list'), new RegExp(`\\n${name} open ${credit}\\.?0* ${none}\\.?0* `))
    await show('price', 'set', 'decimals', '--input', '0.1', '--output', '0.6')
    assert.match(await show('price', 'list'), new RegExp(`\\ndecimals 0.10* ${price}0* `))
    assert.match(await show('model', 'list'), new RegExp(`\\nfar.* ${price}0* yes\\n`))
    assert.ok((await show('account', 'credit', name, '0.0000001')).includes('\nCredit left 2,500.0000001 '))
  }
})

test('migrate reports that there is nothing to do', async () => {
  assert.deepEqual(await json('migrate'), { applied: [] })
})

test('a refusal is one line and status 1', async () => {
  const nobody = '01890000-0000-7000-8000-000000000000'
  assertRefused(await run('account', 'show', nobody, '--json'), /No account has the id 0189/)
  assertRefused(await run('account', 'create', '--name', ' '), /Give a name/)
  assertRefused(await run('account', 'credit', 'Defaults', '-1'), /At most 0 can be withdrawn/)
  assertRefused(await run('account', 'credit', 'Defaults', '1', '--note', 'n'.repeat(1001)), /at most 1000 characters/)
  assertRefused(await run('usage', '--account', ''), /No account has the name or id ""/)
  assertRefused(await run('usage', '--account', 'Nobody'), /No account has the name or id "Nobody"/)
  assertRefused(await run('key', 'revoke', nobody), /No key has the id/)
  assertRefused(
    await run('key', 'create', '--account', 'Keys', '--name', 'x', '--expires', '2020-01-01'),
    /already be expired/,
  )
  const unheard = ['price', 'set', 'unheard', '--input', '1', '--output']
  assertRefused(await run(...unheard, '1'), /^Output must cost more/)
  assertRefused(await run(...unheard, '2', '--cached-input', '1.1'), /^Cached input must not cost more/)
  assertRefused(await run('key', 'create', '--account', 'Keys', '--name', ' ', '--models', 'unheard'), /^Give a name/)
  assertRefused(await run('model', 'check', path.join(folder, 'missing.gguf')), /missing\.gguf/)
})

test("tables have the firm's time zone and grouping; dates are its days; JSON has UTC and plain decimals", async () => {
  const file = path.join(folder, 'berlin.yaml')
  await writeFile(file, `${configuration}\ncurrency: EUR\nfirm: { locale: de-DE, time_zone: Europe/Berlin }\n`)
  const here = async (...args: string[]) => {
    const { status, stdout } = await tollgateHere(args, { ...environment, TOLLGATE_CONFIG: file })
    assert.equal(status, 0, args.join(' '))
    return stdout
  }
  assert.match(await here('account', 'create', '--name', 'Berlin', '--credit', '12.345,60'), /12\.345,60 EUR/)
  await here('account', 'limit', 'Berlin', '--tpm', '1000000')
  assert.match(await here('account', 'list'), /\nBerlin +open +12\.345,6[\d]+ +0,00 +0,00 +7 +1\.000\.000 /)
  const shown = parseObject(await here('account', 'show', 'Berlin', '--json'))
  assert.deepEqual([shown['credit_left'], shown['currency']], ['12345.6', 'EUR'])
  await here('key', 'create', '--account', 'Berlin', '--name', 'summer', '--expires', '2090-07-01')
  assert.match(await here('key', 'list', '--account', 'Berlin'), /  2090-07-01 00:00\+02:00  /)
  const [key] = listOf(parseObject(await here('key', 'list', '--account', 'Berlin', '--json')), 'keys')
  assert.equal(key?.['expires_at'], '2090-06-30T22:00:00.000Z')
})

test('wrong usage exits with status 2 and writes nothing to stdout', async () => {
  for (const line of [
    '',
    'nonsense',
    'constructor',
    'account',
    'account nonsense',
    'account create',
    'account create --name A --rpm 0',
    'account create --name A --rpm many',
    'account create --name A --credit 1e3',
    'account create --name A --credit 1 --monthly-limit 1',
    'account create --name A --nonsense',
    'account create --name A --credit',
    'account show',
    'account show A B',
    'account limit A',
    'account credit A',
    'account credit A much',
    'key create',
    'key create --name A --expires tomorrow',
    'key create --name A --models a,,b',
    'key rotate A --overlap 1y',
    'budget list',
    'batch',
    'batch list Acme',
    'budget create --account A --name T --amount 1 --period month',
    'budget create --account A --name T --amount 1 --period year --tag a=b',
    'budget create --account A --name T --amount 1 --period day --tag a',
    'budget create --account A --name T --amount 1 --period day --tag a=b --keys c',
    'budget change T --account A',
    'budget change T --account A --hard --soft',
    'budget raise T --account A',
    'price set far --input 0.1',
    'price set fär --input 1 --output 2',
    'price set far --input 0.0000001 --output 1',
    'usage --account A --from yesterday',
    'ledger',
    'ledger --key A',
    'ledger --request 1',
    'key create --name A',
    'usage --account A --from 2030-01-02 --to 2030-01-01',
    'invoice export --from 2030-01-02 --to 2030-01-01',
    'ledger --account A --limit -1',
    'ledger --account A --from 7d',
    'ledger --account A --from 2030-01-02 --to 2030-01-01',
    'ledger --account A --from 2030-01-02T12:00Z --to 2030-01-02T12:00Z',
  ]) {
    const { status, stdout, stderr } = await run(...line.split(' ').filter(Boolean))
    assert.deepEqual({ status, stdout }, { status: 2, stdout: '' }, line)
    assert.notEqual(stderr, '', line)
  }
})

test('wrong usage names the fault and the correct form', async () => {
  const most = String(2 ** 31 - 1)
  for (const [words, ...args] of [
    [
      '--credit <amount>.* at most 24 digits before the point',
      'account',
      'create',
      '--name',
      'A',
      '--credit',
      '9'.repeat(25),
    ],
    [`--rpm <n>.* from 1 to ${most}`, 'account', 'create', '--name', 'A', '--rpm', String(2 ** 31)],
    [`--tpm <n>.* from 1 to ${most}`, 'account', 'limit', 'Defaults', '--tpm', '9'.repeat(11)],
    ['--models <models>.* a name of at most 100 letters', 'key', 'create', '--name', 'A', '--models', 'a,b c'],
    ['the value of --models has a line break', 'key', 'create', '--name', 'A', '--models', 'a\nb'],
    ['an argument has the character U\\+001B', 'account', '\u001b[31m'],
  ] as const) {
    const { status, stdout, stderr } = await run(...args)
    assert.deepEqual({ status, stdout }, { status: 2, stdout: '' }, words)
    assert.match(stderr, new RegExp(`^error: .*${words}.*\n$`))
  }
})

test('an argument with invisible characters is not echoed: it may be a key', async () => {
  const { status, stderr } = await run('key', 'revoke', 'tg_abc_secret\n')
  assert.equal(status, 2)
  assert.match(stderr, /^error: an argument has a line break: write it as one line of plain text\n$/)
})

test('every command has help with an example that names it', async () => {
  const below = {
    account: ['create', 'list', 'show', 'credit', 'limit', 'close'],
    key: ['create', 'list', 'rotate', 'revoke'],
    batch: ['list'],
    model: ['list', 'check', 'pull'],
    price: ['set', 'list'],
  }
  const alone = ['start', 'migrate', 'usage', 'ledger', 'verify', 'doctor']
  const lines = [...alone, ...Object.entries(below).flatMap(([name, names]) => names.map((each) => `${name} ${each}`))]
  const { stdout: overview } = await run('--help')
  for (const line of lines) {
    const { status, stdout } = await run(...line.split(' '), '--help')
    assert.equal(status, 0)
    assert.ok(stdout.includes(`$ ./tollgate ${line}`), line)
    assert.match(stdout, /--json/)
    assert.doesNotMatch(stdout, /default: \d+\)/, 'a default is shown as it would be typed')
    assert.match(overview, new RegExp(`^  ${line.split(' ')[0]} `, 'm'))
  }
  assert.equal((await run('--version')).stdout, `${version}\n`)
  assert.match(version, /^\d+\.\d+\.\d+$/)
})

test('a configuration with faults is refused with every fault', async () => {
  const file = path.join(folder, 'faulty.yaml')
  await writeFile(file, 'prot: 1\nlimits: { requests_per_minute: 0 }\n')
  const { status, stdout, stderr } = await tollgateHere(['account', 'list'], { ...environment, TOLLGATE_CONFIG: file })
  assert.deepEqual({ status, stdout }, { status: 1, stdout: '' })
  assert.match(stderr, /prot/)
  assert.match(stderr, /limits\.requests_per_minute/)
  assert.equal(stderr.trim().split('\n').length, 2)
})

test('an unreachable database is one line', async () => {
  const refused = { ...environment, DATABASE_URL: 'postgres://someone:hidden@127.0.0.1:1/none' }
  const outcome = await tollgateHere(['account', 'list', '--json'], refused)
  assertRefused(outcome, /No database answers at 127\.0\.0\.1:1/)
  assert.ok(!outcome.stderr.includes('hidden'))
})

test('doctor reports what works and what does not', async () => {
  const server = createServer()
  const port = await listen(server)
  const outcome = await tollgateHere(['doctor', '--json'], { ...environment, PORT: `${port}` })
  server.close()
  assert.equal(outcome.status, 1)
  const found = new Map(
    listOf(parse(outcome), 'checks').map(({ name, ok, detail: words }) => [name, { ok, detail: String(words) }]),
  )
  for (const name of ['runtime', 'configuration', 'data folder', 'database', 'portal', 'clock']) {
    assert.equal(found.get(name)?.ok, true, `${name}: ${found.get(name)?.detail}`)
  }
  assert.match(found.get('port')?.detail ?? '', /used by another program: stop that program, or set PORT/)
  assert.match(found.get('models')?.detail ?? '', /missing\.gguf/)
  assert.match(
    found.get('prices')?.detail ?? '',
    /Not callable, because they have no price: unpriced\. .*price set unpriced/,
  )
  assert.match(found.get('sign-in')?.detail ?? '', /no provider is configured/)
  // Test databases run without fsync.
  assert.match(found.get('durability')?.detail ?? '', /power cut .*: turn fsync on, for the server/)
  assert.match(outcome.stderr, /^To fix: durability, models, prices, port\.\n$/)
})

test('doctor reports a database that can lose confirmed commits', async (t) => {
  const { at, client } = await openOther(t)
  const durability = async (setting: string) => {
    await client.query(
      `alter database ${new URL(at.DATABASE_URL).pathname.slice(1)} set synchronous_commit = ${setting}`,
    )
    const { stdout } = await tollgateHere(['doctor'], at)
    return stdout.split('\n').find((line) => line.includes('durability'))
  }
  assert.match((await durability('off')) ?? '', /^WRONG {2}durability +.*: turn fsync and synchronous_commit on, for/)
  for (const chosen of ['local', 'on']) assert.match((await durability(chosen)) ?? '', /: turn fsync on,/)
})

detail('doctor reports a database with fsync as durable', async (t) => {
  const data = path.join(folder, 'durable')
  const own = await openEmbedded({ directory: data, log })
  t.after(() => own.close())
  await migrate(own.url)
  const { stdout } = await tollgateHere(['doctor'], { ...environment, DATABASE_URL: own.url })
  assert.match(stdout, /ok {5}durability +committed transactions survive a power cut/)
})

test('a command may take as long as it needs', async (t) => {
  const { at, client } = await openOther(t)
  await client.query(
    `create table allowed as select ''::text as time where false;
     create function note_time() returns trigger language plpgsql as
       $$ begin insert into allowed values (current_setting('statement_timeout')); return null; end $$;
     create trigger note_time after insert on account execute function note_time()`,
  )
  const made = await tollgateHere(['account', 'create', '--name', 'Slow'], at)
  assert.equal(made.status, 0)
  assert.deepEqual((await client.query('select time from allowed')).rows, [{ time: '0' }])
})

detail('a command that cannot give up the embedded database fails', async (t) => {
  const data = path.join(folder, 'moved')
  const own = await openEmbedded({ directory: data, log })
  t.after(() => own.close())
  await migrate(own.url)
  const { DATABASE_URL: _, ...others } = environment
  let written = ''
  const stream = new Writable({
    async write(chunk, _encoding, done) {
      if (written === '') await rename(data, `${data}-away`)
      written += String(chunk)
      done()
    },
  })
  const root = path.join(import.meta.dirname, '../..')
  const needs = { environment: { ...others, TOLLGATE_DATA: data }, root, stdout: stream, stderr: stream }
  const status = await runCommand(['account', 'list', '--json'], needs)
  await rename(`${data}-away`, data)
  assert.equal(status, 1)
  assert.match(written, /^\{"accounts":\[\]\}\n\S+ cannot be created or written: set TOLLGATE_DATA/)
})

test('doctor reports every error of the configuration file in one run, without consequential errors', async () => {
  const file = path.join(folder, 'errors.yaml')
  await writeFile(
    file,
    `${configuration.replace('output: "0.40"', 'output: "0.05"')}
prot: 1
base_url: "\${NOT_SET}"
sign_in: { email_link: true }
session: { idle: 13h }
`,
  )
  const outcome = await tollgateHere(['doctor', '--json'], { ...environment, TOLLGATE_CONFIG: file })
  const document = parse(outcome)
  assert.equal(document['ok'], false)
  const checks = listOf(document, 'checks')
  assert.deepEqual(
    checks.map((check) => [check['name'], check['ok']]),
    [
      ['runtime', true],
      ['configuration', false],
    ],
  )
  const faults = String(checks[1]?.['detail']).split('\n')
  const paths = ['base_url', 'models[0].price.output', 'prot', 'session.idle', 'sign_in.email_link']
  assert.deepEqual(new Set(faults.map((line) => line.split(':')[0])), new Set(paths))
  assert.equal(faults.length, paths.length)
  assert.deepEqual(document['skipped'], [
    'data folder',
    'database',
    'encryption key',
    'currency',
    'portal',
    'durability',
    'clock',
    'connections',
    'documents',
    'models',
    'prices',
    'sign-in',
    'mail',
    'drafting',
    'letterhead',
    'try it',
    'port',
  ])
  assert.match(outcome.stderr, /^To fix: configuration\.\n$/)
})

test("doctor knows the demo's provider", async () => {
  const { stdout } = await tollgateHere(['doctor'], { ...environment, TOLLGATE_DEMO: '1' })
  assert.match(stdout, /\nok {5}sign-in +the demo's provider, without passwords; it runs while the service does\n/)
})

test('A36 no command but start and migrate creates or changes a schema', async (t) => {
  const { at, client } = await openOther(t, { empty: true })
  const relations = async () => {
    const { rows } = await client.query<{ relname: string }>(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1`,
    )
    return rows.map(({ relname }) => relname)
  }
  const lines = [
    ['verify'],
    ['usage', '--account', 'Acme'],
    ['ledger', '--account', 'Acme', '--json'],
    ['account', 'list'],
    ['account', 'create', '--name', 'Acme'],
    ['key', 'list'],
    ['key', 'create', '--account', 'Acme', '--name', 'backend'],
    ['model', 'list'],
    ['price', 'list'],
    ['price', 'set', 'far', '--input', '1', '--output', '2'],
    ['person', 'list'],
    ['person', 'create', '--email', 'p@example.com', '--name', 'P', '--role', 'partner'],
    ['client', 'list'],
  ]
  for (const line of lines) {
    assertRefused(await tollgateHere(line, at), /^The database is empty\. Create the schema: \.\/tollgate migrate, or/)
  }
  const doctor = await tollgateHere(['doctor'], at)
  assert.equal(doctor.status, 1)
  assert.match(doctor.stdout, /WRONG {2}database +The database is empty\. Create the schema: \.\/tollgate migrate/)
  assert.deepEqual(await relations(), [])

  assert.equal((await tollgateHere(['migrate'], at)).status, 0)
  const whole = await relations()
  await client.query('delete from migration where number = (select max(number) from migration)')
  for (const line of lines.slice(0, 3))
    assertRefused(await tollgateHere(line, at), /schema is older .*: \.\/tollgate migrate$/m)
  await client.query(`update migration set checksum = 'other' where number = 1`)
  assertRefused(await tollgateHere(['account', 'list'], at), /^The file of migration 0001_\w+ differs/)
  assert.deepEqual(await relations(), whole)
})

test('A36 an older program refuses a newer schema in one line, whichever command runs', async (t) => {
  const { at, client } = await openOther(t)
  await client.query(`insert into migration (number, name, checksum) values (9999, '9999_later', 'x')`)
  for (const line of [['start'], ['migrate'], ['account', 'list'], ['verify', '--json']]) {
    const outcome = await tollgateHere(line, at)
    assertRefused(outcome, /^The database schema is newer than this version .* 9999_later\. Run the newer version\.$/m)
  }
})

test('a command on a data folder without a database creates none', async () => {
  const data = path.join(folder, 'none-yet')
  const { DATABASE_URL: _, ...others } = environment
  const at = { ...others, TOLLGATE_DATA: data }
  assertRefused(
    await tollgateHere(['account', 'list'], at),
    /has no database yet\. Create it: \.\/tollgate migrate, or/,
  )
  const doctor = await tollgateHere(['doctor'], at)
  assert.match(doctor.stdout, /WRONG {2}database +\S+ has no database yet\. Create it/)
  assert.ok(!existsSync(data))
})

test('doctor checks the providers', async () => {
  const file = path.join(folder, 'providers.yaml')
  const provider = '{ id: firm, name: Firm, issuer: "http://127.0.0.1:1", client_id: x }'
  await writeFile(file, `${configuration}sign_in: { providers: [${provider}] }\n`)
  const checked = await tollgateHere(['doctor', '--json'], { ...environment, TOLLGATE_CONFIG: file })
  const found = listOf(parse(checked), 'checks').find(({ name }) => name === 'sign-in')
  assert.equal(found?.['ok'], false)
  const words = /^No OpenID provider responds at http:\/\/127\.0\.0\.1:1\. Correct the issuer/
  assert.match(String(found?.['detail']), words)
})

const careful = (id: string, name: string) =>
  `  - { id: ${id}, engine: ai-sdk, package: "${name}", upstream_model: m, context: 64, max_output_tokens: 32, price: { input: "1", output: "2" } }\n`

test('doctor and model list report a package that is not installed or not an AI SDK provider', async () => {
  const file = path.join(folder, 'packages.yaml')
  const packages = { good: '@ai-sdk/openai', absent: '@ai-sdk/nowhere', twice: '@ai-sdk/nowhere', other: 'pino' }
  const lines = Object.entries(packages).map(([id, name]) => careful(id, name))
  await writeFile(file, `models:\n${lines.join('')}`)
  const checked = await tollgateHere(['doctor', '--json'], { ...environment, TOLLGATE_CONFIG: file })
  const models = listOf(parse(checked), 'checks').find(({ name }) => name === 'models')
  const absent =
    'models: the package @ai-sdk/nowhere is not installed: run npm install --no-save @ai-sdk/openai @ai-sdk/nowhere pino'
  const other = 'models: the package pino is not an AI SDK provider: name a package that is'
  assert.deepEqual([models?.['ok'], models?.['detail']], [false, `${absent}\n${other}`])
  const listed = await tollgateHere(['model', 'list', '--json'], { ...environment, TOLLGATE_CONFIG: file })
  assert.deepEqual(
    listOf(parse(listed), 'models').map(({ id, callable, fault }) => [id, callable, fault]),
    [
      ['good', true, null],
      ['absent', false, absent],
      ['twice', false, absent],
      ['other', false, other],
    ],
  )
})

test('doctor refuses a runtime that is too old', () => {
  for (const release of ['26.1.0', '26.10.0', '27.0.0']) assert.equal(checkRuntime(release), `Node ${release}`)
  for (const release of ['26.0.0', '25.9.0', '24.12.0'])
    assert.throws(() => checkRuntime(release), /too old: start with \.\/tollgate/)
})

test('doctor reports an unavailable database as one fault', async () => {
  const { status, stdout } = await tollgateHere(['doctor'], {
    ...environment,
    DATABASE_URL: 'postgres://x@127.0.0.1:1/none',
  })
  assert.equal(status, 1)
  assert.match(stdout, /WRONG {2}database +No database answers/)
  assert.match(
    stdout,
    /\nNot checked until that is fixed: encryption key, currency, portal, durability, clock, connections, documents, prices, sign-in, drafting, try it\.\n$/,
  )
  assert.equal(stdout.match(/WRONG/g)?.length, 2, 'the database is one line; the other is the missing model file')
})

test('a read-only database is named as such, by doctor and by commands that change or record something', async (t) => {
  const { at, client } = await openOther(t)
  await client.query(
    `alter database ${new URL(at.DATABASE_URL).pathname.slice(1)} set default_transaction_read_only = on`,
  )
  const { stdout } = await tollgateHere(['doctor'], at)
  assert.match(stdout, /WRONG {2}database +The database at \S+ accepts no writes: name the primary/)
  for (const line of ['account create --name Late --credit 1', 'account list --json']) {
    const refused = await tollgateHere(line.split(' '), at)
    assertRefused(refused, /^The database at \S+ accepts no writes: name the primary/)
  }
  assert.equal((await tollgateHere(['verify', '--json'], at)).status, 0)
})

test('usage by tag lists the values of a tag, or all tags, and shows no control character of a caller', async () => {
  const { id } = await json('account', 'create', '--name', 'Tagged')
  const add = (tags: object | undefined, requests: number) =>
    database.rows(
      `with used as (
         insert into usage_day as u (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost)
         values ('2026-03-12', $1, $1, 'far', $2, 10, 1, 5)
         on conflict (account_id, day, key_id, person_id, model, client_id) do update set requests = u.requests + excluded.requests,
           input_tokens = u.input_tokens + 10, output_tokens = u.output_tokens + 1, cost = u.cost + 5)
       insert into tag_day (day, account_id, digest, tags, requests, input_tokens, output_tokens, cached_tokens, cache_write_tokens, cost)
       select '2026-03-12', $1, sha256(convert_to($3::text, 'UTF8')), $3::jsonb, $2, 10, 1, 0, 0, 5 where $3::text is not null`,
      [id, requests, tags === undefined ? null : JSON.stringify(tags)],
    )
  await add({ project: 'Apollo', team: 'red' }, 2)
  await add({ project: 'Apo\u001b[31mllo' }, 1)
  await add(undefined, 4)
  const tags = listOf(await json('usage', '--account', 'Tagged', '--by', 'tag', '--tag', 'project'), 'tags')
  assert.deepEqual(
    tags.map(({ tag, requests }) => [tag, requests]),
    [
      [null, 4],
      [{ name: 'project', value: 'Apollo' }, 2],
      [{ name: 'project', value: 'Apo\u001b[31mllo' }, 1],
    ],
  )
  assert.deepEqual(tags[0], {
    tag: null,
    requests: 4,
    input_tokens: 10,
    ...uncached,
    output_tokens: 1,
    cost: '0.000000000005',
  })
  const { stdout } = await run('usage', '--account', 'Tagged', '--by', 'tag')
  assert.doesNotMatch(stdout, /CACHE/, 'nothing was cached')
  assert.match(
    stdout,
    /^TAG .*\n\(no tag\) +4 .*\nproject=Apollo +2 .*\nteam=red +2 .*\nproject="Apo\\u001b\[31mllo" +1 /,
  )
  assert.match((await run('usage', '--by', 'tag', '--tag', 'team')).stdout, /\(no tag team\)/, 'of all accounts')
  for (const wrong of [
    ['--tag', 'project'],
    ['--by', 'colour'],
  ]) {
    assert.equal((await run('usage', '--account', 'Tagged', ...wrong)).status, 2, wrong.join(' '))
  }
})
