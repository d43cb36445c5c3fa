import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { tollgateHere } from '../../../tests/support/command-line.ts'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { at, listAt, parseObject, valuesOf } from '../../../tests/support/json.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { fixture, setUp, temporaryFolder } from '../../../tests/support/fixture.ts'
import { addPastUsage } from '../../../tests/support/past-usage.ts'
import { refuseInvoices } from '../../../tests/support/refused-invoices.ts'
import { byService } from '../../access/actor.ts'
import { createAccounts } from '../../accounts/accounts.ts'
import { createKeys } from '../../accounts/keys/keys.ts'
import { openDatabase, type Database } from '../../platform/database/database.ts'

const folder = temporaryFolder()
let database: Database
const names = ['Acme', 'Beta', 'Gamma']

const home = fixture(() => createTestDatabase())
setUp(async () => {
  await writeFile(
    path.join(folder, 'tollgate.yaml'),
    '{ currency: EUR, firm: { name: Berg }, invoicing: { tax: [{ id: a, category: S, rate: "19" }] } }',
  )
  const { log } = createTestLog()
  database = openDatabase(home.url, { log })
  const keys = createKeys({ database, log })
  for (const name of [...names, 'Own']) {
    const { id: accountId } = await createAccounts({ database }).create(
      { name, requestsPerMinute: 60, tokensPerMinute: 1000, credit: 10n ** 15n, own: name === 'Own' },
      byService,
    )
    const { id: keyId, key } = await keys.create({ accountId, name, allowedModels: null, expiresAt: null }, byService)
    const prices = [100_000_000n, 200_000_000n] as const
    await addPastUsage(database, { accountId, keyId, key }, [
      { day: '2026-03-05', model: 'fast', input: 500_000, output: 250_000, prices },
      { day: '2026-02-05', model: 'fast', input: 10_003, output: 0, prices },
    ])
  }
  await keys.close()
})
after(() => database.close())

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
  test('run drafts one invoice for each account, even when it is run again and several times at once', async () => {
    const dry = await run('run', '--month', '2026-03', '--dry-run')
    assert.match(
      dry.stdout,
      /^ACCOUNT +COST \(EUR\) +ID\nAcme +100\.00 +\S+\nBeta +100\.00 +\S+\nGamma +100\.00 +\S+\n$/,
    )
    assert.equal(await count(), 0)
    assert.deepEqual(
      await database.rows(
        `select actor, outcome, details from audit where action in ('unbilled_listed', 'invoices_run')`,
      ),
      [{ actor: 'command', outcome: 'allowed', details: { month: '2026-03', rows: '3' } }],
    )
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
    const id = /^- +draft +Gamma +- +- +119\.00 EUR +- +(\S+)$/m.exec(stdout)?.[1] ?? ''
    const { number, issued_on: issuedOn } = await json('issue', id)
    assert.match(String(number), /^INV-\d{4}-0001$/)
    const shown = await run('show', String(number))
    assert.match(shown.stdout, /^Invoice +INV-\d{4}-0001\nId +\S+\nStatus +open\nPayer +Gamma\n/)
    assert.match(shown.stdout, /^fast: output tokens +0\.25 +million_tokens +200\.00 +50\.00 +S 19 %$/m)
    for (const day of ['1999-12-31', '2999-12-31']) {
      const refused = await run('pay', String(number), '1.19', '--date', day)
      assert.deepEqual([refused.status, refused.stdout], [1, ''])
      assert.match(refused.stderr, /^--date must be a day from [^\n]+, the day of issue, to today, [^\n]+\n$/)
    }
    assert.doesNotMatch(shown.stdout, /Rounding/)
    const paid = await json('pay', String(number), '1.19', '--date', String(issuedOn), '--reference', 'R')
    assert.deepEqual([paid['paid'], paid['open']], ['1.19', '117.81'])
    const credit = await run('credit', id)
    const note = /invoice issue (\S+)\n$/.exec(credit.stdout)?.[1] ?? ''
    const { kind, number: credited } = await json('issue', note)
    assert.equal(kind, 'credit_note')
    assert.doesNotMatch((await run('show', note)).stdout, /Due|Paid|Open/)
    assert.match((await run('list')).stdout, /^CN-\S+ +issued +Gamma +[\d-]+ +- +119\.00 EUR +- /m)
    assert.match((await run('show', id)).stdout, /^Paid +1\.19 EUR\nCredited +119\.00 EUR\nOpen +-1\.19 EUR$/m)
    assert.equal((await json('show', id))['open'], '-1.19')
    const file = await run('export', '--from', '2026-01-01', '--to', '2999-12-31')
    assert.match(
      file.stdout,
      /^number,kind,.*\r\nCN-.*,S,19,-100\.00,-19\.00,-119\.00\r\nINV-.*,S,19,100\.00,19\.00,119\.00\r\n$/s,
    )
    const { rows } = await json('export', '--from', '2026-01-01', '--to', '2999-12-31')
    assert.ok(Array.isArray(rows))
    assert.deepEqual(
      rows.map((row) => [at(row, 'number'), at(row, 'credits'), at(row, 'client_id'), at(row, 'gross')]),
      [
        [credited, number, null, '-119.00'],
        [number, null, null, '119.00'],
      ],
    )
  })

  test('run --issue needs the name of the firm, also to show what it would issue', async () => {
    const nameless = path.join(folder, 'nameless.yaml')
    await writeFile(nameless, '{ currency: EUR }')
    for (const dryRun of [['--dry-run'], []]) {
      const args = ['invoice', 'run', '--month', '2026-03', '--issue', ...dryRun]
      const environment = { DATABASE_URL: home.url, TOLLGATE_DATA: folder, TOLLGATE_CONFIG: nameless }
      const { status, stdout, stderr } = await tollgateHere(args, environment)
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, /^The configuration has no firm\.name/)
    }
  })

  test('run --issue issues the drafts that runs left, in one series, and none of a person', async () => {
    await database.rows(
      `with writer as (insert into person (id, name, role, created_at)
         values (gen_random_uuid(), 'Paula', 'partner', now()) returning id)
       insert into invoice (id, account_id, month, currency, decimals, net, tax, gross, taxes, created_by)
       select gen_random_uuid(), a.id, '2026-03-01', 'EUR', 2, 0, 0, 0, '[]', writer.id from writer, account a
       where a.name = 'Own'`,
    )
    const dry = ['run', '--month', '2026-03', '--dry-run']
    const stored = await count()
    const row = String.raw`119\.00 EUR +\S+\n`
    const listed = await run(...dry, '--issue')
    assert.match(
      listed.stdout,
      new RegExp(`^ACCOUNT.*\\nGamma +100\\.00 .*\\n\\nDRAFT OF +AMOUNT +ID\\nAcme +${row}Beta +${row}$`),
    )
    const { accounts, drafts } = await json(...dry, '--issue')
    assert.deepEqual(
      [accounts, drafts].map((each) => listAt({ each }, 'each').map((it) => at(it, 'name'))),
      [['Gamma'], ['Acme', 'Beta']],
    )
    assert.equal('drafts' in (await json(...dry)), false)
    assert.deepEqual([await count(), listAt(await json('list', '--status', 'draft'), 'invoices').length], [stored, 3])
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
    assert.match((await run(...dry, '--issue')).stdout, /^Nothing to bill[^\n]+\n$/)
    const numbers = await database.rows<{ number: bigint | null }>(
      `select series_number as number from invoice where kind = 'invoice' order by 1`,
    )
    assert.deepEqual(valuesOf(numbers, 'number'), [1n, 2n, 3n, 4n, null])
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
    assert.deepEqual(await json('pdf', id, '--out', named), { id, number, file: named })
    const nowhere = await run('pdf', id, '--out', path.join(folder, 'none', 'a.pdf'))
    assert.equal(nowhere.status, 1)
    assert.match(nowhere.stderr, /The file .*a\.pdf" could not be written: ENOENT/)
  })

  test('send and remind show a mail, or leave it for the service to send', async () => {
    const [{ id, number } = assert.fail()] = listAt(await json('list', '--status', 'open'), 'invoices').map((each) => ({
      id: String(at(each, 'id')),
      number: String(at(each, 'number')),
    }))
    const none = await run('send', number, '--to', 'acme@example.com')
    assert.deepEqual([none.status, none.stdout], [1, ''])
    assert.match(none.stderr, /^No mail server is configured[^\n]*\n$/)
    await writeFile(
      path.join(folder, 'tollgate.yaml'),
      `{ currency: EUR, firm: { name: Berg, locale: de-DE }, invoicing: { tax: [{ id: a, category: S, rate: "19" }] },
        mail: { url: "smtp://127.0.0.1:1", from: "office@berg.example" } }`,
    )
    const mails = () =>
      database.rows('select recipient, copy_to, subject, message, by from invoice_mail order by number')

    const dry = await run('send', number, '--dry-run')
    assert.deepEqual([dry.status, dry.stderr], [0, ''])
    assert.match(dry.stdout, /^To: +no address is known: give one with --to\nSubject: +Rechnung INV-\S+ – Berg\n/)
    const shown = await json('send', number, '--dry-run', '--to', 'acme@example.com')
    assert.deepEqual([shown['to'], shown['cc'], shown['file']], ['acme@example.com', null, `${number}.pdf`])
    const missing = await run('send', number)
    assert.deepEqual([missing.status, missing.stderr], [1, 'The payer has no email address: give one.\n'])
    assert.deepEqual(await mails(), [])

    const words = path.join(folder, 'words.txt')
    await writeFile(words, 'Dear Acme,\n\nattached.\n')
    const address = ['--to', 'acme@example.com', '--cc', 'copy@example.com']
    const sent = await json('send', id, ...address, '--subject', 'Our invoice', '--message-file', words)
    assert.deepEqual([sent['state'], sent['kind'], sent['subject']], ['waiting', 'invoice', 'Our invoice'])
    assert.match((await run('send', number)).stdout, /^Queued a mail to acme@example\.com: Rechnung INV-/)
    const [first, second] = await mails()
    const to = { recipient: 'acme@example.com', by: null }
    const message = 'Dear Acme,\n\nattached.'
    assert.deepEqual(first, { ...to, copy_to: 'copy@example.com', subject: 'Our invoice', message })
    assert.match(String(at(second, 'message')), /^Guten Tag,\n\nanbei erhalten Sie/)
    assert.deepEqual(await database.rows(`select distinct actor from audit where action = 'invoice_sent'`), [
      { actor: 'command' },
    ])

    for (const dryRun of [['--dry-run'], []]) {
      const early = await run('remind', number, ...dryRun)
      assert.deepEqual([early.status, early.stdout], [1, ''])
      assert.match(early.stderr, /^A reminder can be sent only for an overdue invoice/)
    }
    await run('send', number, '--to', 'Nobody')
    assert.equal((await mails()).length, 2)
  })

  test('run names an account that it cannot bill, and bills the others', async () => {
    const allow = await refuseInvoices(database, 'Beta')
    const { status, stdout, stderr } = await run('run', '--month', '2026-02')
    const again = await run('run', '--month', '2026-02', '--json')
    await allow()
    assert.equal(status, 1)
    assert.match(stdout, /^Acme: 1[.,]19 EUR, \S+\nGamma: 1[.,]19 EUR, \S+\n3 of 3\nDrafted 2 invoices\.\n$/)
    assert.match(
      stderr,
      /could not be billed\. The others are not affected\.\n {2}Beta \([\w-]{36}\): refused by a test\n$/,
    )
    assert.deepEqual([again.status, parseObject(again.stdout)], [1, { invoices: [] }])
  })

  test('show names the rounding that is in the net amount', async () => {
    const [id = ''] = listAt(await json('run', '--month', '2026-02'), 'invoices').map((each) => String(at(each, 'id')))
    assert.match((await run('show', id)).stdout, /^Net +1,00 EUR\nRounding +-0,0003 EUR, in the net amount\nTax /m)
  })

  test('refuses wrong arguments in one line', async () => {
    const refused: [args: string[], status: number, reason: RegExp][] = [
      [['run', '--month', '2026-13'], 2, /must be a month such as 2030-01/],
      [['run', '--month', '2999-01'], 1, /The month must have ended at least an hour ago/],
      [['run'], 2, /--month/],
      [['show', 'INV-1'], 1, /No invoice has the number or id/],
      [['show', '01990000-0000-7000-8000-000000000000'], 1, /No invoice exists/],
      [['pay', 'INV-1', 'much', '--date', '2026-03-01'], 2, /must be a decimal number/],
      [['pay', 'INV-1', '1'], 2, /--date/],
      [['list', '--status', 'lost'], 2, /draft, open/],
      [['pdf', 'INV-1'], 1, /No invoice has the number or id/],
      [['send', 'INV-1'], 1, /No invoice has the number or id/],
      [['send', 'INV-1', '--to', 'nobody'], 2, /must be an email address/],
      [['remind', 'INV-1', '--cc', 'a@b@c'], 2, /must be an email address/],
      [['send', 'INV-1', '--subject', ''], 1, /subject/],
      [['remind', 'INV-1', '--message-file', 'none.txt'], 1, /The file "none.txt" could not be read: ENOENT/],
    ]
    for (const [args, status, reason] of refused) {
      const outcome = await run(...args)
      assert.equal(outcome.status, status, outcome.stderr)
      assert.match(outcome.stderr, reason)
    }
  })
})
