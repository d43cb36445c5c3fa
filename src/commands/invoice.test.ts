import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { tollgateHere } from '../../tests/support/command-line.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts'
import { at, listAt, parseObject } from '../../tests/support/json.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { addPastUsage } from '../../tests/support/past-usage.ts'
import { byService } from '../access/actor.ts'
import { createAccounts } from '../accounts/accounts.ts'
import { createKeys } from '../accounts/keys.ts'
import { openDatabase, type Database } from '../platform/database/database.ts'

let home: TestDatabase
let folder: string
let database: Database
const names = ['Acme', 'Beta', 'Gamma']

before(async () => {
  home = await createTestDatabase()
  folder = await mkdtemp(path.join(tmpdir(), 'tollgate-invoice-'))
  await writeFile(
    path.join(folder, 'tollgate.yaml'),
    '{ currency: EUR, firm: { name: Berg }, invoicing: { tax: [{ id: a, category: S, rate: "19" }] } }',
  )
  const { log } = createTestLog()
  database = openDatabase(home.url, { log })
  const accounts = createAccounts({ database })
  const keys = createKeys({ database, log })
  for (const name of [...names, 'Own']) {
    const { id: accountId } = await accounts.create(
      { name, requestsPerMinute: 60, tokensPerMinute: 1000, credit: 10n ** 15n, own: name === 'Own' },
      byService,
    )
    const { id: keyId, key } = await keys.create({ accountId, name, allowedModels: null, expiresAt: null }, byService)
    const prices = [100_000_000n, 200_000_000n] as const
    await addPastUsage(database, { accountId, keyId, key }, [
      { day: '2026-03-05', model: 'fast', input: 500_000, output: 250_000, prices },
    ])
  }
  await keys.close()
})
after(async () => {
  await database.close()
  await home.drop()
  await rm(folder, { recursive: true })
})

const run = (...args: string[]) =>
  tollgateHere(['invoice', ...args], {
    DATABASE_URL: home.url,
    TOLLGATE_DATA: folder,
    TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml'),
  })
const json = async (...args: string[]) => {
  const { status, stdout, stderr } = await run(...args, '--json')
  assert.deepEqual([status, stderr], [0, ''], args.join(' '))
  return parseObject(stdout)
}
const count = async () => (await database.rows(`select from invoice where state <> 'void'`)).length

describe('invoice', () => {
  test('run drafts one invoice for each account, also when it is run again and several times at once', async () => {
    const dry = await run('run', '--month', '2026-03', '--dry-run')
    assert.match(
      dry.stdout,
      /^ACCOUNT +COST \(EUR\) +ID\nAcme +100\.00 +\S+\nBeta +100\.00 +\S+\nGamma +100\.00 +\S+\n$/,
    )
    assert.equal(await count(), 0)
    const runs = await Promise.all([1, 2, 3].map(() => json('run', '--month', '2026-03')))
    assert.equal(runs.flatMap((each) => listAt(each, 'invoices')).length, names.length)
    assert.equal(await count(), names.length)
    const again = await run('run', '--month', '2026-03')
    assert.equal(again.stdout, 'Drafted 0 invoices.\n')
    assert.match((await run('run', '--month', '2026-03', '--dry-run')).stdout, /^Nothing to bill/)
    assert.equal(await count(), names.length)
  })

  test('list, issue, show, pay and credit', async () => {
    const drafts = listAt(await json('list', '--status', 'draft'), 'invoices')
    assert.equal(drafts.length, names.length)
    const { stdout } = await run('list')
    const id = /^- +draft +Gamma +- +- +119\.00 EUR +0\.00 EUR +(\S+)$/m.exec(stdout)?.[1] ?? ''
    const { number } = await json('issue', id)
    assert.match(String(number), /^INV-\d{4}-0001$/)
    const shown = await run('show', String(number))
    assert.match(shown.stdout, /^Invoice +INV-\d{4}-0001\nId +\S+\nStatus +open\nPayer +Gamma\n/)
    assert.match(shown.stdout, /^fast: output tokens +0\.25 +million_tokens +200 +50\.00 +S 19 %$/m)
    const paid = await json('pay', String(number), '1.19', '--date', '2026-04-01', '--reference', 'R')
    assert.deepEqual([paid['paid'], paid['open']], ['1.19', '117.81'])
    const credit = await run('credit', id)
    const note = /invoice issue (\S+)\n$/.exec(credit.stdout)?.[1] ?? ''
    assert.equal((await json('issue', note))['kind'], 'credit_note')
    assert.equal((await json('show', id))['open'], '-1.19')
    const file = await run('export', '--from', '2026-01-01', '--to', '2999-12-31')
    assert.match(
      file.stdout,
      /^number,kind,.*\r\nCN-.*,S,19,-100\.00,-19\.00,-119\.00\r\nINV-.*,S,19,100\.00,19\.00,119\.00\r\n$/s,
    )
  })

  test('run --issue issues the drafts that runs left, in one series, and none of a person', async () => {
    await database.rows(
      `with writer as (insert into person (id, name, role, created_at)
         values (gen_random_uuid(), 'Paula', 'partner', now()) returning id)
       insert into invoice (id, account_id, month, currency, decimals, net, tax, gross, taxes, created_by)
       select gen_random_uuid(), a.id, '2026-03-01', 'EUR', 2, 0, 0, 0, '[]', writer.id from writer, account a
       where a.name = 'Own'`,
    )
    const issued = listAt(await json('run', '--month', '2026-03', '--issue'), 'invoices')
    assert.deepEqual(
      issued.map((each) => [at(each, 'name'), at(each, 'gross')]),
      [
        ['Acme', '119'],
        ['Beta', '119'],
        // Credited in full above, so its month is not billed.
        ['Gamma', '119'],
      ],
    )
    const again = await run('run', '--month', '2026-03', '--issue')
    assert.equal(again.stdout, 'Issued 0 invoices.\n')
    const numbers = await database.rows<{ number: bigint | null }>(
      `select series_number as number from invoice where kind = 'invoice' order by 1`,
    )
    assert.deepEqual(
      numbers.map(({ number }) => number),
      [1n, 2n, 3n, 4n, null],
    )
  })

  test('pdf writes a file named after the number, or the one that is given', async () => {
    const { invoices: all } = await json('list')
    const [{ id, number } = assert.fail()] = listAt({ all }, 'all').flatMap((each) =>
      at(each, 'number') === null ? [] : [{ id: String(at(each, 'id')), number: String(at(each, 'number')) }],
    )
    const out = path.join(folder, 'chosen.pdf')
    const { status, stdout, stderr } = await run('pdf', number, '--out', out)
    assert.deepEqual([status, stdout, stderr], [0, `Wrote ${out}.\n`, ''])
    assert.equal((await readFile(out)).subarray(0, 8).toString(), '%PDF-1.7')
    const named = path.join(folder, `${number}.pdf`)
    assert.equal((await run('pdf', id, '--out', named)).status, 0)
    assert.deepEqual(await readFile(named), await readFile(out))
    const nowhere = await run('pdf', id, '--out', path.join(folder, 'none', 'a.pdf'))
    assert.equal(nowhere.status, 1)
    assert.match(nowhere.stderr, /The file .*a\.pdf" could not be written: ENOENT/)
  })

  test('refuses wrong arguments in one line', async () => {
    const refused: [args: string[], status: number, reason: RegExp][] = [
      [['run', '--month', '2026-13'], 2, /must be a month such as 2030-01/],
      [['run', '--month', '2999-01'], 1, /The month must be over/],
      [['run'], 2, /--month/],
      [['show', 'INV-1'], 1, /No invoice has the number or id/],
      [['show', '01990000-0000-7000-8000-000000000000'], 1, /No invoice exists/],
      [['pay', 'INV-1', 'much', '--date', '2026-03-01'], 2, /must be a decimal number/],
      [['pay', 'INV-1', '1'], 2, /--date/],
      [['list', '--status', 'lost'], 2, /draft, open/],
      [['pdf', 'INV-1'], 1, /No invoice has the number or id/],
    ]
    for (const [args, status, reason] of refused) {
      const outcome = await run(...args)
      assert.equal(outcome.status, status, outcome.stderr)
      assert.match(outcome.stderr, reason)
    }
  })
})
