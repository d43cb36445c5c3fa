import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import { removeUnused } from '../../src/clients/documents/store.ts'
import { openStorageToRead, verifyDocuments, verifyRecords } from '../../src/clients/verify.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { createEncryption } from '../../src/platform/encryption/encryption.ts'
import type { Answer } from '../support/answer.ts'
import { openFirm } from '../support/firm.ts'
import { at } from '../support/json.ts'
import { pngOf } from '../support/sample-files.ts'
import { encryptionKey } from '../support/service.ts'
import { asSuperuser } from '../support/superuser.ts'
import { tamper, whileTampered } from '../support/tamper.ts'
import { until } from '../support/until.ts'

const { firm, anna, ben, paula } = openFirm()

const digestOf = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')
const bytesOf = (text: string) => Buffer.from(text)

async function upload(client: string, bytes: Buffer, headers?: Record<string, string>): Promise<Answer> {
  return anna.send('POST', `/clients/${client}/uploads`, bytes, headers)
}

/** Begins a request whose body the test writes. */
function send(path: string, method: string, headers: Readonly<Record<string, string>>) {
  const { promise: status, resolve, reject } = Promise.withResolvers<number | undefined>()
  const own = { cookie: anna.cookie, 'sec-fetch-site': 'same-origin' }
  const sent = request(firm.service.url + path, { method, headers: { ...own, ...headers } }, (response) => {
    response.resume()
    resolve(response.statusCode)
  })
  sent.on('error', reject)
  return { sent, status }
}

/** The upload of a client that has only one. */
async function stored(client: string) {
  const [row] = await asSuperuser(firm.service.database, (tx) =>
    tx.rows<{ id: string; received: number; digest: string | null }>(
      `select id, received::float8 as received, encode(digest, 'hex') as digest from document_upload where client_id = $1`,
      [client],
    ),
  )
  return row
}

/** Uploads a file and makes a document of it. Returns the path of the document. */
async function add(client: string, name: string, bytes: Buffer): Promise<string> {
  const uploaded = await upload(client, bytes)
  assert.equal(uploaded.status, 201, uploaded.text)
  const answer = await anna.send('POST', `/clients/${client}/documents`, { name, digest: digestOf(bytes) })
  assert.equal(answer.status, 201, answer.text)
  return `/clients/${client}/documents/${String(answer.json['id'])}`
}

const download = (path: string, cookie = anna.cookie) => fetch(firm.service.url + path, { headers: { cookie } })

async function contentOf(path: string): Promise<Buffer> {
  const response = await download(path)
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer())
}

/** Removes what the sweeping removes, which takes some at once. */
async function removeAll(database: Database, since: string): Promise<void> {
  while ((await removeUnused(database, since)) > 0);
}

/** The names of the checks of documents that find a fault. */
async function faults(database: Database): Promise<string[]> {
  const encryption = createEncryption(encryptionKey)
  const storage = await openStorageToRead({ documents: { store: { kind: 'database' } } })
  const checks = [
    ...(await verifyRecords(database)),
    ...(await verifyDocuments(database, { full: true, encryption, storage })),
  ]
  return checks.flatMap(({ ok, name }) => (ok ? [] : [name]))
}

describe('an upload', () => {
  test('stores a file of any size encrypted, and a document gives it back unchanged', async () => {
    const client = await firm.client(anna)
    for (const size of [0, 1, 512 * 1024, 1_500_000]) {
      const bytes = randomBytes(size)
      const path = await add(client, `${size}.bin`, bytes)
      assert.ok((await contentOf(`${path}/content`)).equals(bytes), String(size))
      const { json } = await anna.get(path)
      assert.deepEqual([json['bytes'], json['digest'], json['version']], [size, digestOf(bytes), 1])
    }
    const secret = bytesOf('nothing of this is readable in the database')
    await add(client, 'a', secret)
    const rows = await asSuperuser(firm.service.database, (tx) =>
      tx.rows<{ data: Buffer }>('select data from document_chunk where client_id = $1', [client]),
    )
    assert.ok(rows.length >= 5)
    assert.ok(rows.every(({ data }) => !data.includes('readable')))
  })

  test('continues where it broke off, and keeps what had arrived', async () => {
    const client = await firm.client(anna)
    const bytes = randomBytes(400_000)
    const id = randomUUIDv7()
    const headers = { 'content-length': String(bytes.length), 'idempotency-key': id }
    const { sent, status } = send(`/clients/${client}/uploads`, 'POST', headers)
    sent.write(bytes.subarray(0, 300_000), () => sent.destroy())
    await assert.rejects(status)
    await until(async () => ((await stored(client))?.received ?? 0) > 0)
    const read = async () =>
      (await upload(client, Buffer.alloc(0), { 'idempotency-key': id, 'upload-length': '400000' })).json
    const { id: uploadId, received, digest } = await read()
    assert.ok(typeof received === 'number' && received > 0 && received < 400_000)
    assert.equal(digest, null)
    const path = `/clients/${client}/uploads/${String(uploadId)}`
    const early = await anna.send('POST', `/clients/${client}/documents`, { name: 'a', digest: digestOf(bytes) })
    assert.deepEqual([early.status, at(early.json, 'error', 'field')], [400, 'digest'])
    const wrong = await anna.send('PATCH', path, bytes.subarray(0), { 'upload-offset': '0' })
    assert.deepEqual([wrong.status, at(wrong.json, 'current', 'received')], [409, received])
    const rest = bytes.subarray(received)
    const longer = await anna.send('PATCH', path, Buffer.concat([rest, rest]), { 'upload-offset': String(received) })
    assert.equal(longer.status, 413)
    const { json: now } = await anna.get(path)
    const done = await anna.send('PATCH', path, bytes.subarray(Number(now['received'])), {
      'upload-offset': String(now['received']),
    })
    assert.deepEqual([done.status, done.json['digest'], done.json['received']], [200, digestOf(bytes), 400_000])
    const again = await anna.send('PATCH', path, bytesOf('x'), { 'upload-offset': '400000' })
    assert.equal(again.status, 409)
    const made = await anna.send('POST', `/clients/${client}/documents`, { name: 'a', digest: digestOf(bytes) })
    assert.ok((await contentOf(`/clients/${client}/documents/${String(made.json['id'])}/content`)).equals(bytes))
  })

  test('has the digest of all its bytes if two requests send them at once', async () => {
    const client = await firm.client(anna)
    const bytes = randomBytes(2 * 512 * 1024)
    const half = bytes.length / 2
    const started = send(`/clients/${client}/uploads`, 'POST', { 'upload-length': String(bytes.length) })
    started.sent.write(bytes.subarray(0, half))
    await until(async () => (await stored(client))?.received === half)
    const path = `/clients/${client}/uploads/${(await stored(client))?.id}`
    const continued = send(path, 'PATCH', { 'upload-offset': String(half) })
    continued.sent.write(bytes.subarray(half))
    await until(async () => (await stored(client))?.received === bytes.length)
    assert.equal((await stored(client))?.digest, null)
    started.sent.end()
    assert.equal(await started.status, 201)
    continued.sent.end()
    assert.equal(await continued.status, 200)
    assert.equal((await stored(client))?.digest, digestOf(bytes))
  })

  test('of the same bytes is stored once per client, and never found from another client', async () => {
    const client = await firm.client(anna)
    const other = await firm.client(anna)
    const bytes = randomBytes(1000)
    const first = await add(client, 'first', bytes)
    const second = await add(client, 'second', bytes)
    const digest = digestOf(bytes)
    const stolen = await anna.send('POST', `/clients/${other}/documents`, { name: 'third', digest })
    assert.deepEqual([stolen.status, at(stolen.json, 'error', 'field')], [400, 'digest'])
    assert.ok((await contentOf(`${first}/content`)).equals(await contentOf(`${second}/content`)))
    const contents = await asSuperuser(firm.service.database, (tx) =>
      tx.rows('select from document_content where client_id = $1', [client]),
    )
    assert.equal(contents.length, 1)
  })

  for (const [what, headers, status, field] of [
    ['too large', { 'upload-length': '100000001' }, 413, undefined],
    ['of no size', { 'upload-length': 'many' }, 400, 'Upload-Length'],
    ['smaller than its body', { 'upload-length': '1' }, 400, 'Upload-Length'],
  ] as const) {
    test(`${what} is refused, and leaves nothing`, async () => {
      const client = await firm.client(anna)
      const answer = await upload(client, bytesOf('four'), headers)
      assert.deepEqual([answer.status, at(answer.json, 'error', 'field')], [status, field], answer.text)
      const rows = await asSuperuser(firm.service.database, (tx) =>
        tx.rows('select from document_upload where client_id = $1', [client]),
      )
      assert.deepEqual(rows, [])
    })
  }

  test('is refused once the client is handed over, while it is running', async () => {
    const client = await firm.client(anna)
    const started = await upload(client, bytesOf('first half, '), { 'upload-length': '23' })
    const handed = await paula.send('PATCH', `/clients/${client}`, { consultant_id: ben.id }, { 'if-match': '*' })
    assert.equal(handed.status, 200, handed.text)
    const path = `/clients/${client}/uploads/${String(started.json['id'])}`
    const refused = await anna.send('PATCH', path, bytesOf('second half'), { 'upload-offset': '12' })
    assert.equal(refused.status, 403)
    const continued = await ben.send('PATCH', path, bytesOf('second half'), { 'upload-offset': '12' })
    assert.deepEqual([continued.status, continued.json['digest']], [200, digestOf('first half, second half')])
  })

  test('that no document is made of is removed after a day, and no other', async () => {
    const { database } = firm.service
    const client = await firm.client(anna)
    const used = await add(client, 'used', bytesOf('used'))
    // The second upload of the same bytes has chunks of its own.
    await upload(client, bytesOf('used'))
    await upload(client, bytesOf('unused'))
    await upload(client, bytesOf('begun'), { 'upload-length': '100' })
    const count = async () => {
      const [row] = await asSuperuser(database, (tx) =>
        tx.rows<{ chunks: number; contents: number }>(
          `select (select count(*)::int from document_chunk where client_id = $1) as chunks,
             (select count(*)::int from document_content where client_id = $1) as contents`,
          [client],
        ),
      )
      return row
    }
    assert.deepEqual(await count(), { chunks: 4, contents: 2 })
    await removeAll(database, '1 hour')
    assert.deepEqual(await count(), { chunks: 4, contents: 2 })
    await removeAll(database, '0 s')
    assert.deepEqual(await count(), { chunks: 1, contents: 1 })
    assert.equal((await contentOf(`${used}/content`)).toString(), 'used')
  })

  test('of bytes that were uploaded before is kept for a day, too', async () => {
    const { database } = firm.service
    const client = await firm.client(anna)
    const bytes = bytesOf('sent on two days')
    await upload(client, bytes)
    await tamper(
      database,
      `update document_content set created_at = now() - interval '23 hours' where client_id = '${client}'`,
    )
    await upload(client, bytes)
    await removeAll(database, '1 hour')
    const answer = await anna.send('POST', `/clients/${client}/documents`, { name: 'a', digest: digestOf(bytes) })
    assert.equal(answer.status, 201, answer.text)
  })

  for (const [what, uploads, bytes] of [
    ['a thousand', 999, 1],
    ['10 GB', 99, 100_000_000],
  ] as const) {
    test(`is refused beside ${what} of which no document was made`, async () => {
      const client = await firm.client(anna)
      await asSuperuser(firm.service.database, (tx) =>
        tx.rows(
          'insert into document_upload (id, client_id, bytes) select gen_random_uuid(), $1, $3 from generate_series(1, $2)',
          [client, uploads, bytes],
        ),
      )
      // What a document is made of does not count.
      const path = await add(client, 'a', bytesOf('a'))
      const last = await upload(client, bytesOf('b'), { 'upload-length': String(bytes) })
      assert.equal(last.status, 201, last.text)
      const refused = await upload(client, bytesOf('c'))
      assert.equal(refused.status, 409)
      assert.match(refused.text, /1 000 uploads or 10 GB of which no document was made/)
      assert.equal((await contentOf(`${path}/content`)).toString(), 'a')
      assert.equal((await upload(await firm.client(anna), bytesOf('c'))).status, 201)
    })
  }
})

describe('a document', () => {
  test('has versions: a new content or name makes one, each can be downloaded, and an earlier one restored', async () => {
    const client = await firm.client(anna)
    const [first, second] = [bytesOf('first'), bytesOf('second')]
    const path = await add(client, 'Lease.txt', first)
    await upload(client, second)
    const changed = await anna.send('PATCH', path, { digest: digestOf(second) }, { 'if-match': '"1"' })
    assert.deepEqual([changed.json['version'], changed.json['bytes']], [2, 6], changed.text)
    const stale = await anna.send('PATCH', path, { name: 'Other' }, { 'if-match': '"1"' })
    assert.equal(stale.status, 412)
    const renamed = await anna.send('PATCH', path, { name: 'Lease 2.txt' }, { 'if-match': '"2"' })
    assert.deepEqual([renamed.json['name'], renamed.json['version']], ['Lease 2.txt', 3])
    const { json } = await anna.get(`${path}/revisions`)
    assert.deepEqual(
      [0, 1, 2].map((index) => [
        at(json, 'revisions', index, 'data', 'name'),
        at(json, 'revisions', index, 'data', 'digest'),
      ]),
      [
        ['Lease 2.txt', digestOf(second)],
        ['Lease.txt', digestOf(second)],
        ['Lease.txt', digestOf(first)],
      ],
    )
    assert.equal((await contentOf(`${path}/content?version=1`)).toString(), 'first')
    assert.equal((await contentOf(`${path}/content`)).toString(), 'second')
    assert.equal((await download(`${path}/content?version=4`)).status, 403)
    const restored = await anna.send('PATCH', path, { digest: digestOf(first) }, { 'if-match': '"3"' })
    assert.equal(restored.status, 200)
    assert.equal((await contentOf(`${path}/content`)).toString(), 'first')
    assert.equal((await anna.send('DELETE', path)).status, 204)
    assert.equal((await contentOf(`${path}/content`)).toString(), 'first')
    assert.equal((await anna.send('POST', `${path}/restore`)).status, 200)
  })

  test('is listed page by page, latest first, with the size of all, and found by its name', async () => {
    const client = await firm.client(anna)
    for (const name of ['one', 'two', 'three zebrafish']) await add(client, `${name}.txt`, bytesOf(name))
    const { json } = await anna.get(`/clients/${client}/documents?limit=2`)
    assert.deepEqual(
      [at(json, 'documents', 0, 'name'), at(json, 'documents', 1, 'name')],
      ['three zebrafish.txt', 'two.txt'],
    )
    assert.deepEqual(json['totals'], { documents: 3, bytes: 21 })
    const rest = await anna.get(`/clients/${client}/documents?limit=2&cursor=${String(json['next'])}`)
    assert.deepEqual([at(rest.json, 'documents', 0, 'name'), rest.json['next']], ['one.txt', null])
    const found = await anna.get('/search?q=zebrafish')
    assert.deepEqual(
      [at(found.json, 'results', 0, 'noun'), at(found.json, 'results', 0, 'title')],
      ['document', 'three zebrafish.txt'],
    )
    assert.deepEqual((await ben.get('/search?q=zebrafish')).json['results'], [])
  })

  test('is found by its current text once it has been read, and only by people who see the client', async () => {
    const client = await firm.client(anna)
    const text = bytesOf('The quagga grazes beside the okapi.')
    const path = await add(client, 'animals.txt', text)
    const find = async (by: typeof anna, q: string) => (await by.get(`/search?q=${q}`)).json
    const state = async () => (await anna.get(path)).json['reading']
    await until(async () => (await state()) !== 'waiting').catch(() => assert.fail(firm.service.logText().slice(-4000)))
    assert.equal(await state(), 'read')
    const found = await find(anna, 'quagga')
    assert.deepEqual([at(found, 'results', 0, 'title'), at(found, 'results', 1)], ['animals.txt', undefined])
    assert.equal(at(found, 'results', 0, 'snippet'), 'The \u{e000}quagga\u{e001} grazes beside the okapi.')
    assert.deepEqual((await find(ben, 'quagga'))['results'], [])
    // Its name and its text match: it is one result.
    assert.equal((await anna.send('PATCH', path, { name: 'okapi.txt' }, { 'if-match': '*' })).status, 200)
    assert.equal(at(await find(paula, 'okapi'), 'results', 1), undefined)
    await upload(client, bytesOf('Nothing of the kind.'))
    const digest = digestOf('Nothing of the kind.')
    assert.equal((await anna.send('PATCH', path, { digest }, { 'if-match': '*' })).status, 200)
    assert.deepEqual((await find(anna, 'quagga'))['results'], [])
  })

  const script = '<script>alert(1)</script>'
  const files: readonly (readonly [name: string, bytes: Buffer, type: string])[] = [
    ['page.html', bytesOf(`<!doctype html>${script}`), 'text/plain'],
    ['picture.svg', bytesOf(`<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`), 'text/plain'],
    ['data.xml', bytesOf(`<?xml version="1.0"?><a/>`), 'application/octet-stream'],
    ['picture.txt', pngOf(2, 2), 'image/png'],
    ['both.html', Buffer.concat([pngOf(2, 2), bytesOf(`<!doctype html>${script}`)]), 'image/png'],
    [
      'letter.pdf',
      bytesOf(`%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj`),
      'application/pdf',
    ],
    ['notes.txt', bytesOf('Grüße'), 'text/plain'],
    ['empty.pdf', Buffer.alloc(0), 'application/octet-stream'],
    ['zeros.txt', Buffer.alloc(100), 'application/octet-stream'],
  ]
  test('has the type that its bytes have, and no browser shows or runs it, whatever it is', async () => {
    const client = await firm.client(anna)
    for (const [name, bytes, type] of files) {
      const path = await add(client, name, bytes)
      const { headers } = await download(`${path}/content`)
      assert.equal(headers.get('content-type'), type, name)
      assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="/)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox")
      assert.equal(headers.get('cache-control'), 'no-store')
    }
  })

  for (const name of ['../../etc/passwd', 'a\\b', 'a\0b', 'a\nb', 'x'.repeat(300), '', ' ', '\u202efdp.exe']) {
    test(`is not named ${JSON.stringify(name).slice(0, 20)}`, async () => {
      const client = await firm.client(anna)
      await upload(client, bytesOf('x'))
      const answer = await anna.send('POST', `/clients/${client}/documents`, { name, digest: digestOf('x') })
      assert.deepEqual([answer.status, at(answer.json, 'error', 'field')], [400, 'name'], answer.text)
    })
  }

  test('is downloaded under a harmless name, and each download is in the audit log', async () => {
    const client = await firm.client(anna)
    const path = await add(client, 'Ölpreis "neu"; x.pdf', bytesOf('x'))
    const response = await download(`${path}/content`)
    assert.equal(
      response.headers.get('content-disposition'),
      `attachment; filename="Olpreis neu x.pdf"; filename*=UTF-8''%C3%96lpreis%20neu%20x.pdf`,
    )
    const foreign = await download(`${await add(client, '合同.pdf', bytesOf('y'))}/content`)
    assert.match(foreign.headers.get('content-disposition') ?? '', /^attachment; filename="Document\.pdf"; filename\*=/)
    const rows = await firm.service.database.rows(
      `select outcome from audit where action = 'document_content_read' and noun_id = $1`,
      [path.split('/').at(-1)],
    )
    assert.deepEqual(rows, [{ outcome: 'allowed' }])
  })
})

describe('verify', () => {
  const tampered: Readonly<Record<string, readonly [statement: string, check: string]>> = {
    'a chunk that was removed': [
      'delete from document_chunk where client_id = $1',
      'every version of a document has its content',
    ],
    'a content that was removed': [
      'delete from document where client_id = $1; delete from document_content where client_id = $1',
      'every version of a document has its content',
    ],
    'a byte that was changed': [
      'update document_chunk set data = set_byte(data, 40, get_byte(data, 40) # 1) where client_id = $1',
      'the bytes of every document are those that were uploaded',
    ],
    'a document that names another content': [
      `update document set digest = (select digest from document_content k where k.client_id = $1 and k.digest <> document.digest)
       where client_id = $1 and name = 'first'`,
      'every record is its last revision',
    ],
    'a content with the bytes of another': [
      `update document_chunk k set data = (select o.data from document_chunk o where o.client_id = $1 and o.upload_id <> k.upload_id)
       where client_id = $1 and bytes = 27`,
      'the bytes of every document are those that were uploaded',
    ],
  }
  for (const [what, [statements, check]] of Object.entries(tampered)) {
    test(`finds ${what}`, async () => {
      const client = await firm.client(anna)
      await add(client, 'first', bytesOf('the first file, long enough'))
      await add(client, 'second', bytesOf('the second file, long enough'))
      const { database } = firm.service
      assert.deepEqual(await faults(database), [])
      const found = await whileTampered(database, statements.replaceAll('$1', `'${client}'`), faults)
      assert.ok(found.includes(check), found.join(', '))
    })
  }

  test('passes over a content that is removed while it runs', async () => {
    const client = await firm.client(anna)
    await upload(client, bytesOf('unused'))
    const { database } = firm.service
    // The contents are listed in one snapshot, and read in later ones.
    let isListed = false
    const transaction: Database['transaction'] = async (work) => {
      const result = await database.transaction(work)
      if (at(result, 0, 'digest') !== undefined && !isListed) {
        isListed = true
        await removeAll(database, '0 s')
      }
      return result
    }
    assert.deepEqual(await faults({ ...database, transaction }), [])
    assert.ok(isListed)
  })
})
