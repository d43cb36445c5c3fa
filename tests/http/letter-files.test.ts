import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { strFromU8, unzipSync } from 'fflate'
import { XmlDocument } from 'libxml2-wasm'
import { extractText, getDocumentProxy } from 'unpdf'
import { startFirm } from '../support/firm.ts'
import { at } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'

const penhallow = {
  name: 'Penhallow Advisory',
  address: ['14 Harbour Row', 'Falmouth TR11 3QT'],
  email: 'office@penhallow.example',
  phone: '+44 1326 555 014',
  closing: 'Yours sincerely,',
  time_zone: 'Asia/Tokyo',
  locale: 'de-DE',
}

let client: string

const firm = fixture(() => startFirm({ firm: penhallow }))
const anna = fixture(() => firm.join('Anna Łęcka', 'consultant'))
setUp(async () => {
  client = await firm.client(anna, 'Öberg & Söner AB')
  const address = { address: 'Storgatan 1\n111 22 Stockholm' }
  assert.equal((await anna.send('PATCH', `/clients/${client}`, address, { 'if-match': '*' })).status, 200)
})

/** Creates a letter of Anna's client. Returns its path. */
async function letter(body: string, subject = 'Your offer'): Promise<string> {
  const { status, json, text } = await anna.send('POST', `/clients/${client}/letters`, { subject, body })
  assert.equal(status, 201, text)
  return `/clients/${client}/letters/${String(json['id'])}`
}

const file = (path: string) => fetch(firm.service.url + path, { headers: { cookie: anna.cookie } })

/** The text of a PDF or Word document or of a page, with single spaces. */
async function textOf(path: string): Promise<string> {
  const response = await file(path)
  const bytes = new Uint8Array(await response.arrayBuffer())
  assert.equal(response.status, 200, Buffer.from(bytes).toString())
  return (await readText(path, bytes)).replaceAll(/\s+/g, ' ')
}

async function readText(path: string, bytes: Uint8Array): Promise<string> {
  if (path.endsWith('pdf')) return (await extractText(await getDocumentProxy(bytes), { mergePages: true })).text
  const markup = path.endsWith('docx')
    ? strFromU8(unzipSync(bytes)['word/document.xml'] ?? new Uint8Array())
    : Buffer.from(bytes).toString()
  const marked = markup.replace(/<style>[^]*?<\/style>/, '').replaceAll(/<\/(?:w:p|p|li|h\d|div|title)>|<w:br\/>/g, ' ')
  const bare = marked.replaceAll(/<[^>]*>/g, '')
  return bare
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
}

const formats = ['pdf', 'docx', 'print'] as const

describe('a letter as a file', () => {
  test('pdf: has its subject and the firm in the metadata, where marks of XML are escaped', async () => {
    const subject = 'Fees < 5 % & "rates" > 3'
    const response = await file(`${await letter('Dear all,', subject)}/pdf`)
    const bytes = Buffer.from(await response.arrayBuffer())
    const [xmp = assert.fail('no XMP')] = /<x:xmpmeta[^]*<\/x:xmpmeta>/.exec(bytes.toString()) ?? []
    using document = XmlDocument.fromString(xmp)
    const namespaces = {
      dc: 'http://purl.org/dc/elements/1.1/',
      rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
    }
    const read = (path: string) => document.find(path, namespaces).map((node) => node.content)
    assert.deepEqual(read('//dc:title//rdf:li'), [subject])
    assert.deepEqual(read('//dc:creator//rdf:li'), [penhallow.name])
    const { info } = await (await getDocumentProxy(new Uint8Array(bytes))).getMetadata()
    assert.deepEqual([at(info, 'Title'), at(info, 'Author')], [subject, penhallow.name])
  })

  for (const format of formats) {
    test(`${format}: has the letterhead, the address, the date, the text and the signature`, async () => {
      const path = await letter(
        'Dear Ms *Öberg*,\n\nthank you. **Ελληνικά**, Кириллица.\nA second line.\n\n- one\n- two',
      )
      const text = await textOf(`${path}/${format}`)
      const day = new Intl.DateTimeFormat('de-DE', { dateStyle: 'long', timeZone: 'Asia/Tokyo' })
      for (const part of [
        penhallow.name,
        ...penhallow.address,
        penhallow.email,
        penhallow.phone,
        'Öberg & Söner AB',
        'Storgatan 1 111 22 Stockholm',
        'Your offer',
        'Dear Ms Öberg,',
        'thank you. Ελληνικά, Кириллица. A second line.',
        'Yours sincerely, Anna Łęcka',
      ]) {
        assert.ok(text.includes(part), `${part} is not in ${text}`)
      }
      assert.ok(
        [day.format(Date.now() - 60_000), day.format(Date.now())].some((date) => text.includes(date)),
        text,
      )
      assert.ok(!text.includes('*'), text)
    })

    test(`${format}: shows HTML and unsafe links as text`, async () => {
      const typed = '<script>alert(1)</script> <b>bold</b> &amp; [run](javascript:alert(1))'
      const path = await letter(`${typed} [site](https://example.com/?a=1&b=2)`)
      const text = await textOf(`${path}/${format}`)
      assert.ok(text.includes(typed), text)
      const bytes = Buffer.from(await (await file(`${path}/${format}`)).arrayBuffer())
      assert.ok(!bytes.includes('<script>alert'), 'the script is part of the page')
    })

    test(`${format}: keeps the closing that the text has`, async () => {
      const text = await textOf(
        `${await letter('Dear Ms Öberg,\n\nthank you.\n\nKind regards,\nAnna Łęcka')}/${format}`,
      )
      assert.match(text, /thank you\. Kind regards, Anna Łęcka/)
      assert.ok(!text.includes('Yours sincerely'))
    })
  }

  test('has a name that is safe and readable', async () => {
    const path = await letter('Text', '../Rückfrage: "Steuer\\2026" & mehr.  ')
    const { headers } = await file(`${path}/pdf`)
    assert.equal(
      headers.get('content-disposition'),
      `attachment; filename="Ruckfrage Steuer 2026 & mehr.pdf"; filename*=UTF-8''R%C3%BCckfrage%20Steuer%202026%20%26%20mehr.pdf`,
    )
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('content-type'), 'application/pdf')
  })

  test('to print is a page without scripts, frames and forms', async () => {
    const { headers } = await file(`${await letter('Text')}/print`)
    assert.match(
      headers.get('content-security-policy') ?? '',
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    )
  })

  test('is in the activity with its format', async () => {
    const path = await letter('Text')
    for (const format of formats) await textOf(`${path}/${format}`)
    const partner = await firm.join('Paula', 'partner')
    const { json } = await partner.get(`/audit?client=${client}`)
    const rows = (Array.isArray(json['audit']) ? json['audit'] : []).filter(
      (row) => at(row, 'action') === 'letter_exported',
    )
    assert.deepEqual(
      rows.slice(0, 3).map((row) => at(row, 'details', 'format')),
      formats.toReversed(),
    )
  })

  test('as PDF is refused if its fonts lack characters; Word and the page have them', async () => {
    const path = await letter('Dear 😀, שלום and 𒀀')
    const { status, error } = await anna.get(`${path}/pdf`)
    assert.deepEqual([status, error['code']], [409, 'conflict'])
    assert.match(String(error['reason']), /cannot show 𒀀: no font has them/)
    const noted = await firm.service.database.rows(
      `select outcome from audit where action = 'letter_exported' and details ->> 'format' = 'pdf' order by id desc limit 1`,
    )
    assert.deepEqual(noted, [{ outcome: 'refused' }])
    for (const format of ['docx', 'print']) assert.match(await textOf(`${path}/${format}`), /😀, שלום and 𒀀/)
  })

  test('that no PDF can show is not sent, because it could not be changed afterwards', async () => {
    const path = await letter('Dear 𒀀')
    const sent = await anna.send('PATCH', path, { status: 'sent' }, { 'if-match': '*' })
    assert.equal(sent.status, 409, sent.text)
    assert.match(sent.text, /no PDF of this one could show 𒀀/)
    assert.equal((await anna.get(path)).json['status'], 'draft')
    const corrected = await anna.send('PATCH', path, { status: 'sent', body: 'Dear 😀' }, { 'if-match': '*' })
    assert.equal(corrected.json['status'], 'sent', corrected.text)
  })

  test('of a letter that was sent shows what was sent', async () => {
    const other = await firm.client(anna, 'Before')
    const made = await anna.send('POST', `/clients/${other}/letters`, { subject: 'Offer', status: 'sent' })
    await anna.send('PATCH', `/clients/${other}`, { name: 'After' }, { 'if-match': '*' })
    const text = await textOf(`/clients/${other}/letters/${String(made.json['id'])}/pdf`)
    assert.ok(text.includes('Before') && !text.includes('After'), text)
  })
})

describe('hard texts', () => {
  const texts: Readonly<Record<string, string>> = {
    'deep nesting': `${'> '.repeat(5000)}deep`,
    'many marks': '**a_['.repeat(20_000),
    'a long word': 'x'.repeat(20_000),
    'nested lists': Array.from({ length: 300 }, (_, depth) => `${' '.repeat(2 * depth)}- x`).join('\n'),
    'thousands of lines': Array.from({ length: 3000 }, (_, line) => `line ${line}`).join('\n'),
    'odd characters': 'a\u0001\u0085b\u2028c\ufffe d\u200be\u00adf\u202eg\tindented',
  }
  for (const [what, text] of Object.entries(texts)) {
    test(`${what}: every file is written`, { timeout: 120_000 }, async () => {
      const path = await letter(text)
      for (const format of formats) {
        const response = await file(`${path}/${format}`)
        assert.equal(response.status, 200, `${format}: ${await response.clone().text()}`)
        assert.ok((await response.arrayBuffer()).byteLength > 1000)
      }
    })
  }
})
