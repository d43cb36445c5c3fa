import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService as operator } from '../../access/actor.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { createAccess } from '../../access/access.ts'
import { createAudit } from '../../access/audit/audit.ts'
import { openPortal } from '../../access/portal/portal.ts'
import { createPeople } from '../../people/people.ts'
import { openDatabase } from '../../platform/database/database.ts'
import { findRepeats } from './store.ts'
import { importClients, type ImportOptions } from './import.ts'

const { log } = createTestLog()

const { own, database } = openOwnDatabase(log)
/** As a superuser, who sees every record. */
const superuser = fixture(() => openDatabase(own.superuserUrl, { log }))
const portal = fixture(() => openPortal({ databaseUrl: own.url, log }))
const audit = fixture(() => createAudit({ database }))
const people = fixture(() => createPeople({ database, audit }))
const access = fixture(() => createAccess({ portal, audit }))
setUp(async () => {
  await people.create({ name: 'Anna', email: 'anna@firm.example', role: 'consultant' }, operator)
  await people.create({ name: 'Ben', email: 'ben@firm.example', role: 'consultant' }, operator)
  const gone = await people.create({ name: 'Gone', email: 'gone@firm.example', role: 'consultant' }, operator)
  await people.setStatus(gone.id, 'disabled', operator)
})

const load = (text: string | Buffer, options?: ImportOptions) =>
  importClients({ access, people }, operator, Buffer.from(text), options)
const clients = () =>
  superuser.rows<{ name: string; reference: string | null; email: string | null; consultant: string }>(
    `select c.name, c.reference, c.email, p.name as consultant from client c join person p on p.id = consultant_id order by c.sort_key`,
  )
const head = 'name,reference,email,consultant'
const billed = (vat: string, days: string) =>
  `name,consultant,vat_number,days_to_pay\nBilled,anna@firm.example,${vat},${days}\n`

describe('an import', () => {
  test('creates every client with a revision and an audit event, and nothing on a dry run', async () => {
    const file = `\ufeff${head}\r\n"Berg, ""the"" firm",B-1,post@berg.example,anna@firm.example\r\n\r\n"Two  words",,,BEN@firm.example\r\n`
    assert.deepEqual(await load(file, { dryRun: true }), { imported: 2, faults: [] })
    assert.deepEqual(await clients(), [])
    assert.deepEqual(await load(file), { imported: 2, faults: [] })
    assert.deepEqual(await clients(), [
      { name: 'Berg, "the" firm', reference: 'B-1', email: 'post@berg.example', consultant: 'Anna' },
      { name: 'Two  words', reference: null, email: null, consultant: 'Ben' },
    ])
    const [row] = await superuser.rows(
      `select (select count(*)::int from revision where noun = 'client') as revisions,
        (select count(*)::int from audit where action = 'client_imported') as audited`,
    )
    assert.deepEqual(row, { revisions: 2, audited: 2 })
  })

  test('has columns for billing details, and names the wrong one', async () => {
    const reasons = [await load(billed('123', '10')), await load(billed('SE12', 'ten'))].map(
      ({ faults }) => faults[0]?.reason,
    )
    assert.match(reasons.join('\n'), /field vat_number must be a VAT number.*\n.*field days_to_pay must be/)
    assert.deepEqual(await load(billed('se12', '10')), { imported: 1, faults: [] })
    const [row] = await superuser.rows(`select vat_number, order_number, days_to_pay from client where name = 'Billed'`)
    assert.deepEqual(row, { vat_number: 'SE12', order_number: null, days_to_pay: 10 })
  })

  test('of an already imported file is refused line by line', async () => {
    const { faults } = await load(
      `${head}\nOther name,b-1,,anna@firm.example\nTWO words,,,ben@firm.example\nBerg,B-1,,ben@firm.example\n`,
    )
    assert.deepEqual(faults, [
      { line: 2, reason: 'the client "Other name" already exists' },
      { line: 3, reason: 'the client "TWO words" already exists' },
    ])
  })

  test('ignores empty columns and lines, which spreadsheets write', async () => {
    const file = '\ufeffName;E-mail;Consultant;;\r\nSheet;s@sheet.example;anna@firm.example;;\r\n;;;;\r\n'
    assert.deepEqual(await load(file), { imported: 1, faults: [] })
    const stray = 'name;consultant;\nStray;anna@firm.example;something\n'
    assert.deepEqual(await load(stray), {
      imported: 0,
      faults: [{ line: 2, reason: 'it has 3 cells, but the header has 2' }],
    })
  })

  test('accepts columns in another order, and one consultant for all lines', async () => {
    const result = await load('Reference;NAME\nX-1;Ixes\nX-2;Ypsilon\n', { consultant: 'anna@firm.example' })
    assert.deepEqual(result, { imported: 2, faults: [] })
    const found = (await clients()).filter(({ reference }) => reference?.startsWith('X-'))
    assert.deepEqual(
      found.map(({ name, consultant }) => [name, consultant]),
      [
        ['Ixes', 'Anna'],
        ['Ypsilon', 'Anna'],
      ],
    )
  })

  const anna = 'anna@firm.example'
  const refused: [what: string, file: string, faults: [line: number, reason: RegExp][]][] = [
    ['nothing in it', '', [[1, /empty/]]],
    ['an unknown column', 'name,colour\nA,red\n', [[1, /unknown column "colour"/]]],
    ['a column twice', 'name,Name\nA,B\n', [[1, /appears twice/]]],
    ['no name column', 'reference\nA\n', [[1, /column name is missing/]]],
    [
      'a line with too many cells',
      `${head}\nA,,,${anna}\nB,,,${anna},more\nC,,,${anna}\n`,
      [[3, /5 cells, but the header has 4/]],
    ],
    ['a line with too few cells', `${head}\nA,,,${anna}\n\nB\n`, [[4, /1 cells/]]],
    ['a line without a name', `${head}\n,R,,${anna}\n`, [[2, /name is missing/]]],
    ['a name that is too long', `${head}\n${'x'.repeat(201)},,,${anna}\n`, [[2, /field name must be/]]],
    ['a line break in a name', `${head}\n"a\nb",,,${anna}\nC,,,${anna}\n`, [[2, /line break/]]],
    ['turned direction', `${head}\nA,\u202eR,,${anna}\n`, [[2, /field reference .*U\+202E/]]],
    ['a name of nothing to see', `${head}\n\u200b,,,${anna}\n`, [[2, /U\+200B/]]],
    ['a NUL', `${head}\na\0b,,,${anna}\n`, [[2, /NUL/]]],
    ['what is no address', `${head}\nA,,not an address,${anna}\n`, [[2, /is not an email address/]]],
    ['nobody of that address', `${head}\nA,,,nobody@firm.example\n`, [[2, /no active person/]]],
    ['somebody who is disabled', `${head}\nA,,,gone@firm.example\n`, [[2, /no active person/]]],
    ['no consultant at all', 'name\nA\n', [[2, /the consultant is missing/]]],
    ['the same reference twice', `${head}\nA,R-1,,${anna}\nB,r-1,,${anna}\n`, [[3, /same client as in line 2/]]],
    ['the same name twice', `${head}\nA,,,${anna}\nC,,,${anna}\na,,,${anna}\n`, [[4, /same client as in line 2/]]],
    ['a broken line in the middle', `${head}\nA,,,${anna}\n"B,,,${anna}\nC,,,${anna}\n`, [[3, /no closing quote/]]],
    [
      'several faults',
      `${head}\n,,,${anna}\nB,,x,${anna}\nC,,,${anna}\nD" ",,,${anna}\n`,
      [
        [2, /name/],
        [3, /email/],
        [5, /quote/],
      ],
    ],
  ]
  for (const [what, file, faults] of refused) {
    test(`of a file with ${what} imports nothing and names the place`, async () => {
      const was = await clients()
      const result = await load(file)
      assert.equal(result.imported, 0)
      assert.deepEqual(
        result.faults.map(({ line }) => line),
        faults.map(([line]) => line),
      )
      for (const [index, [, reason]] of faults.entries()) assert.match(result.faults[index]?.reason ?? '', reason)
      assert.deepEqual(await clients(), was)
    })
  }

  test('tells names apart that differ only in their punctuation, in the file and from existing ones', async () => {
    const names = ['C# Consulting', 'C Consulting', 'C++ Consulting', '★', '☆', 'Cafe', 'Café']
    const [first = '', ...others] = names
    assert.equal((await load(`${head}\n${first},,,${anna}\n`)).imported, 1)
    const lines = others.map((name) => `${name},,,${anna}`).join('\n')
    assert.deepEqual(await load(`${head}\n${lines}\n`), { imported: others.length, faults: [] })
    const again = ['c# CONSULTING', '★', 'CAFÉ', 'C- Consulting', 'c- consulting']
    const { faults } = await load(`${head}\n${again.map((name) => `${name},,,${anna}`).join('\n')}\n`)
    assert.deepEqual(faults, [
      { line: 2, reason: 'the client "c# CONSULTING" already exists' },
      { line: 3, reason: 'the client "★" already exists' },
      { line: 4, reason: 'the client "CAFÉ" already exists' },
      { line: 6, reason: 'this is the same client as in line 5' },
    ])
  })

  test('that conflicts with a concurrent one imports nothing', async () => {
    const was = (await clients()).length
    const lines = Array.from({ length: 50 }, (_, n) => `Race ${n},RACE-${n},,${anna}`).join('\n')
    const results = await Promise.allSettled([load(`${head}\n${lines}\n`), load(`${head}\n${lines}\n`)])
    const imported = results.filter((each) => each.status === 'fulfilled' && each.value.imported === 50)
    assert.equal(imported.length, 1)
    assert.equal((await clients()).length, was + 50)
  })

  // The plan must not depend on what PostgreSQL expects of the file, of which it knows nothing.
  test('compares every line and every existing client once', async () => {
    const carl = await people.create({ name: 'Carl', email: 'carl@firm.example', role: 'consultant' }, operator)
    await superuser.rows(
      `insert into client (id, name, reference, consultant_id)
       select uuidv7(), 'Known ' || n, case when n % 2 = 0 then 'K-' || n end, $1 from generate_series(1, 3000) n`,
      [carl.id],
    )
    await superuser.rows('analyze client')
    const lines = Array.from({ length: 2000 }, (_, n) => {
      const reference = n % 2 === 0 ? `K-${n}` : null
      const address = { email: null, address: null }
      return { line: n + 2, id: randomUUIDv7(), name: `New ${n}`, reference, ...address, consultant_id: carl.id }
    })
    const { text, values } = findRepeats(lines)
    const [explained] = await superuser.rows<{ 'QUERY PLAN': unknown }>(
      `explain (analyze, format json) ${text}`,
      values,
    )
    const nodes = JSON.stringify(explained)
    const most = Math.max(
      ...[...nodes.matchAll(/"Actual Rows":([\d.]+),"Actual Loops":(\d+)/g)].map(
        ([, rows, loops]) => Number(rows) * Number(loops),
      ),
    )
    assert.ok(most > 2000 && most <= 5100, `${most} rows: ${nodes}`)
    assert.doesNotMatch(nodes, /"Join Filter"/)
  })

  // If its time grew with the square of the lines, it would exceed the time limit of a test.
  test('of 20 000 lines takes seconds, not minutes', async () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `Mass ${n},M-${n},mass${n}@client.example,ben@firm.example`)
    assert.deepEqual(await load(`${head}\n${lines.join('\n')}\n`, { dryRun: true }), { imported: 20_000, faults: [] })
  })
})
