import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { strToU8, zipSync } from 'fflate'
import { permissions } from './permissions.ts'
import { readText, type ReadLimits } from './read-text.ts'

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('The first half')
  throw new Error('the source is away')
}

const read = (type: string, bytes: Uint8Array, limits?: ReadLimits) =>
  readText(type, one(bytes), { ...(limits && { limits }) })
const office = (kind: string) => `application/vnd.openxmlformats-officedocument.${kind}`
const [word, workbook] = [office('wordprocessingml.document'), office('spreadsheetml.sheet')]
const zipped = (files: Readonly<Record<string, string>>) =>
  zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])))

const relation = (id: string, type: string, target: string) =>
  `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`
const relations = (...each: readonly string[]) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${each.join('')}</Relationships>`
const types = (name: string, type: string) =>
  `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="${name}" ContentType="${type}"/></Types>`

const wordFile = (text: string) =>
  zipped({
    '[Content_Types].xml': types('/word/document.xml', `${word}.main+xml`),
    '_rels/.rels': relations(relation('r1', 'officeDocument', 'word/document.xml')),
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`,
  })

const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const sheetOf = (cell: string) =>
  `<worksheet ${main}><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>${cell}</t></is></c><c r="B1"><v>12.5</v></c></row></sheetData></worksheet>`
const workbookFile = zipped({
  '[Content_Types].xml': types('/xl/workbook.xml', `${workbook}.main+xml`),
  '_rels/.rels': relations(relation('r1', 'officeDocument', 'xl/workbook.xml')),
  'xl/workbook.xml': `<workbook ${main} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Rent" sheetId="1" r:id="r1"/><sheet name="Costs" sheetId="2" r:id="r2"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': relations(
    relation('r1', 'worksheet', 'worksheets/sheet1.xml'),
    relation('r2', 'worksheet', 'worksheets/sheet2.xml'),
  ),
  'xl/worksheets/sheet1.xml': sheetOf('January'),
  'xl/worksheets/sheet2.xml': sheetOf('Heating'),
})

/** A PDF with a page for each text. `encrypted`: with a password that nobody knows. */
function pdfOf(texts: readonly string[], encrypted = false): Buffer {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>>>',
    `<</Type/Pages/Count ${texts.length}/Kids[${texts.map((_, index) => `${4 + 2 * index} 0 R`).join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ]
  for (const [index, text] of texts.entries()) {
    const stream = `BT /F 12 Tf 50 700 Td (${text}) Tj ET`
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents ${5 + 2 * index} 0 R>>`,
      `<</Length ${stream.length}>>stream\n${stream}\nendstream`,
    )
  }
  let file = '%PDF-1.7\n'
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj${object}endobj\n`
    return String(offset).padStart(10, '0')
  })
  const key = 'A'.repeat(32)
  const locked = encrypted ? `/ID[(1)(1)]/Encrypt<</Filter/Standard/V 1/R 2/O(${key})/U(${key})/P -4>>` : ''
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.map((each) => `${each} 00000 n \n`).join('')}`
  return Buffer.from(
    `${file}${table}trailer<</Size ${objects.length + 1}/Root 1 0 R${locked}>>\nstartxref\n${file.length}\n%%EOF`,
  )
}

describe('the text of a file', () => {
  const mail =
    'From: Anna <anna@example.com>\r\nTo: Ben <ben@example.com>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nHello.'
  const cases: readonly (readonly [what: string, type: string, bytes: Uint8Array, pages: unknown])[] = [
    [
      'a PDF, page by page',
      'application/pdf',
      pdfOf(['first page', 'second page']),
      [
        { label: '', text: 'first page' },
        { label: '', text: 'second page' },
      ],
    ],
    ['a Word document', word, wordFile('A lease'), [{ label: '', text: 'A lease\n\n' }]],
    [
      'a workbook, sheet by sheet',
      workbook,
      workbookFile,
      [
        { label: 'Rent', text: 'January\t12.5' },
        { label: 'Costs', text: 'Heating\t12.5' },
      ],
    ],
    ['plain text', 'text/plain', Buffer.from('Grüße\0'), [{ label: '', text: 'Grüße' }]],
    [
      'a text with other ends of lines',
      'text/plain',
      Buffer.from('one\u2028two\u2029three\r'),
      [{ label: '', text: 'one\u2028two\u2029three\r' }],
    ],
    [
      'a message',
      'text/plain',
      Buffer.from(mail),
      [{ label: '', text: 'Subject: Grüße\nFrom: Anna anna@example.com\nTo: Ben ben@example.com\n\nHello.\n' }],
    ],
    [
      'a text that only begins like a message',
      'text/plain',
      Buffer.from('From: here\nto there\n\nyes'),
      [{ label: '', text: 'From: here\nto there\n\nyes' }],
    ],
    ['a file without text', 'application/pdf', pdfOf(['']), 'none'],
    ['a file of another type', 'image/png', Buffer.from('x'), 'none'],
    ['a PDF with a password', 'application/pdf', pdfOf(['x'], true), 'protected'],
    ['a damaged PDF', 'application/pdf', Buffer.from('%PDF-1.7'), 'damaged'],
    ['a damaged Word document', word, Buffer.from('PK'), 'damaged'],
    ['a damaged message of Outlook', 'application/x-cfb', Buffer.from('x'), 'damaged'],
  ]
  for (const [what, type, bytes, pages] of cases) {
    test(`of ${what}`, async () => assert.deepEqual(await read(type, bytes), pages))
  }

  test('is not read further if it takes too much memory or time, and only its process ends', async () => {
    const bomb = wordFile('bomb '.repeat(20_000_000))
    assert.ok(bomb.length < 1_000_000)
    const limits = { time: 60_000, memory: 160 * 1024 ** 2 }
    assert.equal(await read(word, bomb, limits), 'too_much')
    assert.equal(await read('application/pdf', pdfOf(['x']), { ...limits, time: 1 }), 'too_much')
    assert.deepEqual(await read(word, wordFile('next')), [{ label: '', text: 'next\n\n' }])
  })

  test('is not known if its bytes cannot be read, or the process fails', async () => {
    await assert.rejects(readText('text/plain', broken()), /the source is away/)
    // Node refuses to start with such a heap.
    const limits = { time: 60_000, memory: Number.NaN }
    await assert.rejects(read('text/plain', Buffer.from('x'), limits), /ended with 9/)
  })

  test('is read by a process without network, children, other files or anything to write', async () => {
    const server = createServer(() => arrived.push('TCP')).listen(0, '127.0.0.1')
    const socket = createSocket('udp4', () => arrived.push('UDP')).bind(0, '127.0.0.1')
    const arrived: string[] = []
    await Promise.all([once(server, 'listening'), once(socket, 'listening')])
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const own = new URL('../../../../', import.meta.url).pathname
    const program = `
      const { createSocket } = require('node:dgram')
      const { lookup } = require('node:dns')
      const { readFileSync, readdirSync, writeFileSync } = require('node:fs')
      const { connect } = require('node:net')
      const ended = (start) => new Promise((resolve, reject) => start((error) => error ? reject(error) : resolve()))
      const tries = {
        TCP: () => ended((done) => connect(${port}, '127.0.0.1', () => done()).on('error', done)),
        UDP: () => ended((done) => createSocket('udp4').on('error', done).send('x', ${socket.address().port}, '127.0.0.1', done)),
        names: () => ended((done) => lookup('example.com', done)),
        configuration: () => readFileSync('${own}tollgate.example.yaml'),
        folder: () => readdirSync('${own}'),
        system: () => readFileSync('/etc/passwd'),
        write: () => writeFileSync('${own}src/written', ''),
        child: () => require('node:child_process').spawnSync(process.execPath, ['--version']),
        program: () => readFileSync('${own}package.json') && undefined,
      }
      void (async () => {
        for (const [what, attempt] of Object.entries(tries)) {
          const code = await Promise.resolve().then(attempt).catch(({ code }) => code)
          console.log(what + ': ' + code)
        }
        process.exit()
      })()`
    const child = spawn(process.execPath, ['--no-warnings', ...permissions, '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const said = await textOf(child.stdout)
    server.close()
    socket.close()
    assert.deepEqual(said.trim().split('\n'), [
      'TCP: ERR_ACCESS_DENIED',
      'UDP: ERR_ACCESS_DENIED',
      'names: ERR_ACCESS_DENIED',
      'configuration: ERR_ACCESS_DENIED',
      'folder: ERR_ACCESS_DENIED',
      'system: ERR_ACCESS_DENIED',
      'write: ERR_ACCESS_DENIED',
      'child: ERR_ACCESS_DENIED',
      'program: undefined',
    ])
    assert.deepEqual(arrived, [])
  })
})
