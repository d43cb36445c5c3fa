import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, test } from 'node:test'
import { eraseClient } from '../../src/client-data/store.ts'
import { removeObjects } from '../../src/clients/documents/storage/removal.ts'
import { openStorageToRead } from '../../src/clients/documents/storage/storage.ts'
import { removeUnused } from '../../src/clients/documents/store.ts'
import { verifyDocuments } from '../../src/clients/verify.ts'
import { createEncryption } from '../../src/platform/encryption/encryption.ts'
import { startBucketServer } from '../support/bucket-server.ts'
import { makeDue } from '../support/erasable.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { fixture, temporaryFolder } from '../support/fixture.ts'
import { at, parseObject } from '../support/json.ts'
import { encryptionKey, startService, upstreamModel } from '../support/service.ts'
import { asSuperuser } from '../support/superuser.ts'
import { until } from '../support/until.ts'

const folder = path.join(temporaryFolder(), 'documents')
const server = fixture(() => startBucketServer())
const firm = fixture(() =>
  startFirm({
    models: [upstreamModel('http://127.0.0.1:9')],
    retention: { erasure_after: '30d' },
    documents: { store: 's3://files/tollgate', former_store: folder, s3: server.settings },
  }),
)
const anna = fixture(() => firm.join('Anna', 'consultant'))
const paula = fixture(() => firm.join('Paula', 'partner'))
/** Another instance, before the bucket was configured. */
const former = fixture(() =>
  startService({
    models: [upstreamModel('http://127.0.0.1:9')],
    databaseUrl: firm.service.databaseUrl,
    documents: { store: folder },
  }),
)

const settings = () => ({
  store: { kind: 'bucket', bucket: 'files', prefix: 'tollgate/' } as const,
  former_store: { kind: 'folder', folder } as const,
  s3: server.settings,
})
const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function uploadTo(url: string, by: Member, client: string, bytes: Buffer<ArrayBuffer>, length = bytes.length) {
  const headers = { cookie: by.cookie, 'sec-fetch-site': 'same-origin', 'upload-length': String(length) }
  return fetch(`${url}/clients/${client}/uploads`, { method: 'POST', headers, body: bytes })
}

/** Uploads a file through an instance, and makes a document of it. Returns its path. */
async function add(url: string, client: string, name: string, bytes: Buffer<ArrayBuffer>): Promise<string> {
  const uploaded = await uploadTo(url, anna, client, bytes)
  assert.equal(uploaded.status, 201, await uploaded.text())
  const answer = await anna.send('POST', `/clients/${client}/documents`, { name, digest: digestOf(bytes) })
  assert.equal(answer.status, 201, answer.text)
  return `/clients/${client}/documents/${String(answer.json['id'])}`
}

async function contentOf(document: string): Promise<Buffer> {
  const response = await fetch(`${firm.service.url}${document}/content`, { headers: { cookie: anna.cookie } })
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer())
}

/** Where the chunks of a client are, by their starts. */
const chunksOf = (client: string) =>
  asSuperuser(firm.service.database, (tx) =>
    tx.rows<{ place: string; name: string }>(
      `select o.place, encode(k.object, 'hex') as name from document_chunk k join document_object o on o.digest = k.object
       where k.client_id = $1 and k.data is null order by k.upload_id, k.start`,
      [client],
    ),
  )

const namesOf = async (client: string) => (await chunksOf(client)).map(({ name }) => name)

/** Which of these objects are in the folder or in the bucket. */
async function keptOf(names: readonly string[]): Promise<string[]> {
  const files = await readdir(folder, { recursive: true })
  const objects = [...server.objects.keys()]
  return names.filter((name) => [...files, ...objects].some((kept) => kept.endsWith(name)))
}

async function sweep(): Promise<void> {
  const storage = await openStorageToRead({ documents: settings() })
  while ((await removeUnused(firm.service.database, '0 s')) > 0);
  while ((await removeObjects({ database: firm.service.database, storage })) > 0);
  await storage.close()
}

/** The first fault that `verify` finds. */
async function fault(): Promise<unknown> {
  const storage = await openStorageToRead({ documents: settings() })
  const encryption = createEncryption(encryptionKey)
  const checks = await verifyDocuments(firm.service.database, { full: true, encryption, storage })
  await storage.close()
  const [first] = checks.flatMap((check) => check.faults)
  return at({ first }, 'first', 'fault')
}

describe('documents outside the database', () => {
  test('are in the bucket, encrypted, and those from before still in the folder', async () => {
    const client = await firm.client(anna)
    const [old, recent] = [randomBytes(2_500_000), Buffer.from('nothing of this is readable')]
    const first = await add(former.url, client, 'old.bin', old)
    const second = await add(firm.service.url, client, 'new.txt', recent)
    assert.deepEqual(await contentOf(first), old)
    assert.deepEqual(await contentOf(second), recent)
    const chunks = await chunksOf(client)
    assert.deepEqual(chunks.map(({ place }) => place).toSorted(), ['bucket', 'folder', 'folder'])
    for (const { place, name } of chunks) {
      const kept =
        place === 'bucket'
          ? server.objects.get(`tollgate/${name}`)
          : await readFile(path.join(folder, name.slice(0, 2), name))
      assert.ok(kept !== undefined && !kept.includes('readable'))
      assert.equal(digestOf(kept), name)
    }
    assert.equal(await fault(), undefined)
  })

  test('verify finds an object that is missing, changed or cannot be read', async () => {
    const client = await firm.client(anna)
    await add(former.url, client, 'a.bin', randomBytes(100))
    const [{ name } = { name: '' }] = await chunksOf(client)
    const file = path.join(folder, name.slice(0, 2), name)
    const bytes = await readFile(file)
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(40) ^ 1, 40)
    await writeFile(file, changed)
    assert.equal(await fault(), 'the bytes from 0 on were not written by this service')
    await rm(file)
    assert.equal(await fault(), 'no bytes from 0 on')
    await rename(folder, `${folder}.away`)
    assert.equal(await fault(), 'its storage is unavailable')
    await rename(`${folder}.away`, folder)
    await writeFile(file, bytes)
    assert.equal(await fault(), undefined)
  })

  test('are gone after an erasure or a day without use, and no others', async () => {
    const [client, other] = [await firm.client(anna), await firm.client(anna)]
    await add(former.url, client, 'old.bin', randomBytes(100))
    await add(firm.service.url, client, 'new.bin', randomBytes(100))
    await add(firm.service.url, other, 'other.bin', randomBytes(100))
    await uploadTo(firm.service.url, anna, other, randomBytes(100), 200)
    const [erased, left] = [await namesOf(client), await namesOf(other)]
    assert.deepEqual([erased.length, left.length], [2, 2])
    assert.equal((await paula.send('POST', `/clients/${client}/erasure`, { reason: 'It ended.' })).status, 201)
    await makeDue(firm.service.database, client)
    await eraseClient(firm.service.database, client, '30 days')
    await until(async () => (await chunksOf(client)).length === 0)
    await sweep()
    const kept = await namesOf(other)
    assert.equal(kept.length, 1)
    assert.deepEqual(await keptOf([...erased, ...left]), kept)
    const rows = await asSuperuser(firm.service.database, (tx) =>
      tx.rows('select from document_object where client_id = $1', [client]),
    )
    assert.deepEqual(rows, [])
  })

  test('that a crash left behind are removed after a day, and not before', async () => {
    const client = await firm.client(anna)
    await add(firm.service.url, client, 'a.bin', randomBytes(100))
    const left = 'ab'.repeat(32)
    server.objects.set(`tollgate/${left}`, Buffer.from('x'))
    await asSuperuser(firm.service.database, (tx) =>
      tx.rows(`insert into document_object (digest, client_id, place) values (decode($1, 'hex'), $2, 'bucket')`, [
        left,
        client,
      ]),
    )
    await sweep()
    assert.deepEqual(await keptOf([left]), [left])
    await asSuperuser(firm.service.database, (tx) =>
      tx.rows(`update document_object set remove_after = now() - interval '1 s' where digest = decode($1, 'hex')`, [
        left,
      ]),
    )
    server.fail((response) => response.writeHead(500).end())
    await assert.rejects(sweep(), { code: 'unavailable' })
    server.fail(undefined)
    await sweep()
    assert.deepEqual(await keptOf([left]), [])
  })

  test('cannot be sent or read during an outage of the storage, everything else works, and what had arrived is kept', async () => {
    const client = await firm.client(anna)
    const bytes = randomBytes(1000)
    const document = await add(firm.service.url, client, 'a.bin', bytes)
    const started = await uploadTo(firm.service.url, anna, client, bytes.subarray(0, 400), 1000)
    const { id } = parseObject(await started.text())
    const rest = () =>
      anna.send('PATCH', `/clients/${client}/uploads/${String(id)}`, bytes.subarray(400), { 'upload-offset': '400' })
    server.fail((response) => response.writeHead(500).end())
    const refused = await rest()
    assert.equal(refused.status, 503)
    assert.equal(
      at(refused.json, 'error', 'reason'),
      'The storage of documents is unavailable. Everything else works. Try again later.',
    )
    assert.equal((await anna.get(`${document}/content`)).status, 503)
    const renamed = await anna.send('PATCH', document, { name: 'b.bin' }, { 'if-match': '*' })
    assert.equal(renamed.status, 200, renamed.text)
    assert.match(firm.service.logText(), /the bucket http:\S+\/files answers with status 500/)
    server.fail(undefined)
    const done = await rest()
    assert.deepEqual([done.status, done.json['digest']], [200, digestOf(bytes)])
    assert.deepEqual(await contentOf(document), bytes)
  })
})
