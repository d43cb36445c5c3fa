import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { XmlDocument } from 'libxml2-wasm'
import { extractText, getDocumentProxy } from 'unpdf'
import { ok, type Answer } from '../support/answer.ts'
import { brokenRules, schemaFaults } from '../support/en16931.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { at, objectAt } from '../support/json.ts'
import { pdfaFaults } from '../support/pdfa.ts'
import { billing, pathOf } from '../support/billing.ts'

const { firm, anna, paula } = openFirm(() => ({
  currency: 'EUR',
  firm: {
    name: 'Berg & Söhne',
    address: ['Hochstraße 1', '1010 Wien'],
    email: 'office@berg.example',
    locale: 'de-AT',
  },
  invoicing: {
    tax_number: 'ATU12345678',
    bank: { iban: 'DE89 3704 0044 0532 0130 00' },
    tax: [
      { id: 'standard', category: 'S', rate: '20' },
      { id: 'reverse', category: 'AE', reason: 'Reverse Charge' },
    ],
  },
}))

const fee = { text: 'Beratung', quantity: '3.5', unit: 'hour', unit_price: '180.005' }
const { attempt, bill, read, issue, discard, credit, pay } = billing(paula)

async function draft(...lines: readonly object[]): Promise<Answer> {
  const client = await firm.client(anna, 'Öberg & Söner AB')
  ok(await anna.send('PATCH', `/clients/${client}`, { address: 'Storgatan 1\nSchweden' }, { 'if-match': '*' }))
  return bill({ client, lines: [fee, ...lines], note: 'Danke.' })
}

const issued = async (...lines: readonly object[]) => issue(await draft(...lines))

const file = (path: string, { cookie }: Member = paula) => fetch(firm.service.url + path, { headers: { cookie } })

async function bytesOf(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await file(path)
  const bytes = new Uint8Array(await response.arrayBuffer())
  assert.equal(response.status, 200, Buffer.from(bytes).toString())
  return bytes
}

/** The text of a PDF with single spaces, its embedded files and its metadata. */
async function readPdf(bytes: Uint8Array<ArrayBuffer>) {
  const pdf = await getDocumentProxy(bytes.slice())
  const { text } = await extractText(pdf, { mergePages: true })
  const { metadata, info } = await pdf.getMetadata()
  return { text: text.replaceAll(/\s+/g, ' '), embedded: embeddedIn(bytes), metadata, info }
}

function embeddedIn(bytes: Uint8Array): string[] {
  const files = Buffer.from(bytes)
    .toString('latin1')
    .matchAll(/EmbeddedFile[^]*?stream\n([^]*?)\nendstream/g)
  return [...files].map(([, packed = '']) => inflateSync(Buffer.from(packed, 'latin1')).toString())
}

describe('an invoice as PDF', () => {
  test('shows the firm, the buyer, the lines, the taxes, the day of supply and how to pay, as the firm writes', async () => {
    const done = await issued()
    const number = String(done.json['number'])
    const { text } = await readPdf(await bytesOf(`${pathOf(done)}/pdf`))
    const day = (field: string) =>
      new Intl.DateTimeFormat('de-AT', { dateStyle: 'long', timeZone: 'UTC' }).format(
        new Date(`${String(done.json[field])}T00:00:00Z`),
      )
    for (const part of [
      'Berg & Söhne',
      'Hochstraße 1',
      'office@berg.example',
      'Öberg & Söner AB Storgatan 1 Schweden',
      `Rechnung ${number}`,
      day('issued_on'),
      day('due_on'),
      '1 Beratung 3,5 Std. 180,005 20 % 630,02',
      'Netto 630,02',
      '20 % Steuer auf 630,02 126,00',
      'Gesamtbetrag € 756,02'.replace('€', 'EUR'),
      `Leistungsdatum ${day('issued_on')}`,
      'Danke.',
      'DE89 3704 0044 0532 0130 00',
      'Steuernummer ATU12345678',
    ]) {
      assert.ok(text.includes(part), `${part} is not in ${text}`)
    }
    for (const part of ['Entwurf', '0,0025']) assert.ok(!text.includes(part), part)
  })

  test('is PDF/A-3 with the XML of the invoice embedded, as Factur-X demands', async () => {
    const done = await issued()
    const bytes = await bytesOf(`${pathOf(done)}/pdf`)
    const xml = Buffer.from(await bytesOf(`${pathOf(done)}/xml`)).toString()
    const { embedded, metadata, info } = await readPdf(bytes)
    assert.deepEqual(embedded, [xml])
    assert.equal(metadata.get('pdfaid:part'), '3')
    assert.equal(metadata.get('pdfaid:conformance'), 'B')
    assert.equal(metadata.get('fx:documentfilename'), 'factur-x.xml')
    assert.equal(metadata.get('fx:documenttype'), 'INVOICE')
    assert.equal(metadata.get('fx:conformancelevel'), 'EN 16931')
    assert.deepEqual(metadata.get('dc:creator'), ['Berg & Söhne'])
    assert.equal(at(info, 'Title'), `Rechnung ${String(done.json['number'])}`)
    const raw = Buffer.from(bytes).toString('latin1')
    assert.match(raw, /\/AFRelationship \/Alternative/)
    assert.match(raw, /\/S \/GTS_PDFA1/)
    assert.match(raw, /\/F \(factur-x\.xml\)/)
    assert.match(raw, /\/Subtype \/text#2Fxml/)
    assert.match(raw, /\/AF \[/)
    assert.ok(!raw.includes('/Encrypt'))
    // Readers are lenient, validators are not.
    const [xmp = assert.fail()] = /<x:xmpmeta[^]*<\/x:xmpmeta>/.exec(Buffer.from(bytes).toString()) ?? []
    XmlDocument.fromString(xmp).dispose()
  })

  test('keeps the rules of PDF/A-3b that files break most often, and so does a draft', async () => {
    const bytes = await bytesOf(`${pathOf(await issued())}/pdf`)
    assert.deepEqual(pdfaFaults(bytes), [])
    assert.deepEqual(pdfaFaults(await bytesOf(`${pathOf(await draft())}/pdf`)), [])
    // Each of these breaks one rule, and keeps the offsets of all objects.
    const raw = Buffer.from(bytes).toString('latin1')
    for (const [right, wrong, clause] of [
      ['/AFRelationship', '/AFRelationshiq', '6.8 its relationship'],
      ['/UF (', '/UG (', '6.8 its name, twice'],
      ['/AF [', '/AG [', '6.8 its association'],
      ['/ModDate', '/ModDatf', '6.8 its date'],
      ['/GTS_PDFA1', '/GTS_PDFX1', '6.2.3 one output intent'],
      ['/ToUnicode', '/ToUnicodf', '6.2.11.7'],
      ['/FontFile2', '/FontFilf2', '6.2.11.4'],
      ['/CIDToGIDMap', '/CIDToGIDMaq', '6.2.11.3'],
      ['<pdfaid:part>3<', '<pdfaid:part>2<', '6.6.4'],
      ['>ConformanceLevel<', '>ConformanceLevem<', '6.6.2 declared terms'],
      ['<xmp:CreatorTool>T', '<xmp:CreatorTool>X', '6.6.3 the creator'],
      ['/ID [', '/IE [', '6.1.3 two ids'],
      ['/ViewerPreferences', '/OpenAction       ', '6.5.2'],
      ['endobj', 'endobk', '6.1.4'],
    ] as const) {
      assert.ok(raw.includes(right), `${right} is not in the file`)
      const faults = pdfaFaults(Buffer.from(raw.replace(right, wrong), 'latin1'))
      assert.ok(
        faults.some((each) => each.startsWith(clause)),
        `${wrong}: ${faults.join(', ')}`,
      )
    }
  })

  test('is the same file after a payment, a credit note and a change of the client', async () => {
    const done = await issued()
    const first = [await bytesOf(`${pathOf(done)}/pdf`), await bytesOf(`${pathOf(done)}/xml`)]
    await pay(done, { date: done.json['issued_on'], amount: '6.02' })
    const client = `/clients/${String(objectAt(done.json, 'payer')['id'])}`
    ok(await anna.send('PATCH', client, { name: 'Other', address: 'Elsewhere' }, { 'if-match': '*' }))
    const note = await issue(await credit(done, { lines: [{ position: 1, quantity: '1' }] }))
    assert.deepEqual([await bytesOf(`${pathOf(done)}/pdf`), await bytesOf(`${pathOf(done)}/xml`)], first)

    const { text, embedded } = await readPdf(await bytesOf(`${pathOf(note)}/pdf`))
    assert.match(text, new RegExp(`Rechnungskorrektur ${String(note.json['number'])} .*Zur Rechnung`))
    assert.ok(text.includes(String(done.json['number'])) && !text.includes('IBAN'), text)
    assert.equal(embedded.length, 1)
  })

  test('of a draft is marked as one, and has no number, no XML and no account', async () => {
    const made = await draft()
    const { text, embedded, metadata } = await readPdf(await bytesOf(`${pathOf(made)}/pdf`))
    assert.match(text, /Rechnung – Entwurf/)
    assert.ok(text.includes('Berg & Söhne') && text.includes('Beratung') && !text.includes('IBAN'), text)
    assert.deepEqual([embedded, metadata.get('fx:documenttype')], [[], null])
  })

  test('of absurd amounts and words stays on the page', async () => {
    const absurd = { ...fee, text: 'x'.repeat(500), quantity: '1000000000', unit_price: '999999999999.999999' }
    const pdf = await getDocumentProxy(await bytesOf(`${pathOf(await issued(absurd))}/pdf`))
    const { items } = await (await pdf.getPage(1)).getTextContent()
    const ends = items.flatMap((item) =>
      'width' in item ? [{ text: item.str, end: Number(item.transform[4]) + item.width }] : [],
    )
    const rightEdge = ((210 - 25) * 72) / 25.4
    assert.ok(ends.length > 20)
    assert.deepEqual(
      ends.filter(({ end }) => end > rightEdge + 1),
      [],
    )
  })

  test('has the fonts of other scripts', async () => {
    const done = await issued({ ...fee, text: '会議 👍 שלום' })
    const { text } = await extractText(await getDocumentProxy(await bytesOf(`${pathOf(done)}/pdf`)), {
      mergePages: true,
    })
    assert.match(text, /会議 👍 (?:שלום|םולש)/)
    assert.deepEqual(brokenRules(Buffer.from(await bytesOf(`${pathOf(done)}/xml`)).toString()), [])
  })

  test('B110: is checked before the issue, which is refused with all that is wrong', async () => {
    const made = await draft({ ...fee, text: 'Cuneiform 𒀀', tax: 'reverse' })
    assert.match(
      String(at(made.json, 'before_issue', 0, 'text')),
      /require the VAT number of the buyer.*billing details/,
    )
    const { status, error } = await attempt(made, 'issue')
    assert.equal(status, 409)
    assert.match(String(error['reason']), /the VAT number of the buyer.* A PDF cannot show 𒀀: no font has them\./)
    assert.equal((await read(made))['status'], 'draft')
  })
})

describe('an invoice as XML', () => {
  test('B105: passes the published schema and the rules for amounts', async () => {
    const xml = Buffer.from(await bytesOf(`${pathOf(await issued())}/xml`)).toString()
    assert.deepEqual([schemaFaults(xml), brokenRules(xml)], [[], []])
    for (const part of ['ATU12345678', '<ram:CountryID>AT<', '<ram:CountryID>SE<', 'Berg &amp; Söhne', '>756.02<']) {
      assert.ok(xml.includes(part), `${part} is not in ${xml}`)
    }
  })

  test('is refused for a draft', async () => {
    const refused = await paula.get(`${pathOf(await draft())}/xml`)
    assert.deepEqual([refused.status, refused.error['reason']], [409, 'A draft has no XML file: issue it first.'])
    const gone = await draft()
    await discard(gone)
    for (const format of ['pdf', 'xml']) {
      const { status, error } = await paula.get(`${pathOf(gone)}/${format}`)
      assert.deepEqual([status, error['reason']], [409, 'A void draft has no files.'])
    }
  })
})

describe('the files of an invoice', () => {
  test('have a name, and are not kept by caches', async () => {
    const done = await issued()
    for (const [format, type] of [
      ['pdf', 'application/pdf'],
      ['xml', 'application/xml; charset=utf-8'],
    ] as const) {
      const { headers } = await file(`${pathOf(done)}/${format}`)
      assert.equal(headers.get('content-type'), type)
      assert.equal(headers.get('cache-control'), 'no-store')
      const name = String(done.json['number'])
      assert.match(headers.get('content-disposition') ?? '', new RegExp(`^attachment; filename="${name}\\.${format}"`))
    }
  })

  test('B83: are for partners, and refused to a consultant without a word about the invoice', async () => {
    const done = await issued()
    for (const path of [`${pathOf(done)}/pdf`, `${pathOf(done)}/xml`, '/invoices/unknown/pdf']) {
      const { status, error, text } = await anna.get(path)
      assert.deepEqual([status, error['code']], [403, 'forbidden'])
      assert.ok(!/\b630\b/.test(text) && !text.includes(String(done.json['number'])))
    }
    assert.equal((await paula.get('/invoices/unknown/pdf')).status, 404)
  })

  test('leave an audit event with their format, allowed or refused, that names no client', async () => {
    const [done, made] = [await issued(), await draft()]
    await bytesOf(`${pathOf(done)}/pdf`)
    await bytesOf(`${pathOf(done)}/xml`)
    await paula.get(`${pathOf(made)}/xml`)
    const rows = await firm.service.database.rows(
      `select outcome, noun_id, client_id, details ->> 'format' as format from audit where action = 'invoice_exported'
         and noun_id in ($1, $2) order by id`,
      [done.json['id'], made.json['id']],
    )
    assert.deepEqual(rows, [
      { outcome: 'allowed', noun_id: done.json['id'], client_id: null, format: 'pdf' },
      { outcome: 'allowed', noun_id: done.json['id'], client_id: null, format: 'xml' },
      { outcome: 'refused', noun_id: made.json['id'], client_id: null, format: 'xml' },
    ])
  })
})
