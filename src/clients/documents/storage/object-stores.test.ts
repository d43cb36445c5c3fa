import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import promises, { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { describe, test } from 'node:test'
import { refuse, startBucketServer } from '../../../../tests/support/bucket-server.ts'
import { fixture, temporaryFolder } from '../../../../tests/support/fixture.ts'
import { openBucket } from './bucket.ts'
import { openFolder } from './folder.ts'
import { marker, type ObjectStore } from './object-store.ts'

const scratch = temporaryFolder()
const server = fixture(() => startBucketServer())
const nameOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const bytes = Buffer.from([0, 1, 2, 255, 13, 10])
const name = nameOf(bytes)

const folderAt = (part: string) => openFolder(path.join(scratch, part))
const bucketWith = (changes: object = {}, bucket = 'files', patience = 10_000) =>
  openBucket({ bucket, prefix: 'of/tollgate/', settings: { ...server.settings, ...changes }, patience })

const stores: Readonly<Record<string, () => ObjectStore>> = {
  'a folder': () => folderAt('whole/way'),
  'a bucket': () => bucketWith(),
}
for (const [what, open] of Object.entries(stores)) {
  test(`${what} keeps objects until they are removed, and knows whether it is the one`, async () => {
    const store = open()
    assert.equal(await store.isMarked(), false)
    await store.mark()
    await store.mark()
    assert.equal(await store.isMarked(), true)
    assert.equal(await store.get(name), undefined)
    await store.put(name, bytes)
    await store.put(name, bytes)
    assert.deepEqual(await store.get(name), bytes)
    await store.remove(name)
    await store.remove(name)
    assert.equal(await store.get(name), undefined)
    await store.close()
  })
}

describe('a folder', () => {
  test('is for its user alone, and has nothing but the objects', async () => {
    const store = folderAt('private')
    await store.mark()
    await store.put(name, bytes)
    const folder = path.join(scratch, 'private')
    const modeOf = async (...parts: string[]) => ((await stat(path.join(folder, ...parts))).mode & 0o777).toString(8)
    assert.deepEqual(
      await readdir(folder, { recursive: true }).then((names) => names.toSorted()),
      [name.slice(0, 2), `${name.slice(0, 2)}/${name}`, marker.name].toSorted(),
    )
    assert.deepEqual(
      [await modeOf(), await modeOf(name.slice(0, 2)), await modeOf(name.slice(0, 2), name)],
      ['700', '700', '600'],
    )
    // What a crash has left.
    await writeFile(path.join(folder, name.slice(0, 2), `${name}.partial`), 'x')
    await store.remove(name)
    assert.deepEqual(await readdir(path.join(folder, name.slice(0, 2))), [])
  })

  test('that is not mounted any more gets no files', async () => {
    const store = folderAt('mounted')
    await store.mark()
    await rename(path.join(scratch, 'mounted'), path.join(scratch, 'elsewhere'))
    await mkdir(path.join(scratch, 'mounted'))
    await assert.rejects(store.put(name, bytes), { name: 'StoreFault', kind: 'away', message: /Is it mounted\?/ })
    assert.deepEqual(await readdir(path.join(scratch, 'mounted')), [])
  })

  test('survives a crash of the machine, also if another request has just made the subfolder', async (t) => {
    const opened: unknown[] = []
    const open = promises.open
    t.mock.method(promises, 'open', (...wanted: Parameters<typeof open>) => {
      opened.push(wanted[0])
      return open(...wanted)
    })
    syncBuiltinESMExports()
    const folder = path.join(scratch, 'lasting')
    const store = openFolder(folder)
    await store.mark()
    assert.ok(opened.includes(scratch))
    await mkdir(path.join(folder, name.slice(0, 2)))
    opened.length = 0
    await store.put(name, bytes)
    assert.ok(opened.includes(folder))
    opened.length = 0
    await store.put(name, bytes)
    assert.ok(!opened.includes(folder))
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })

  test('that is a file is refused', async () => {
    await writeFile(path.join(scratch, 'file'), 'x')
    await assert.rejects(folderAt('file').mark(), { name: 'StoreFault', kind: 'refused', message: /ENOTDIR|EEXIST/ })
    assert.equal(await readFile(path.join(scratch, 'file'), 'utf8'), 'x')
  })
})

describe('a bucket', () => {
  test('has its name in the host name or in the path', () => {
    const endpoint = 'https://s3.example.com:9000'
    assert.equal(bucketWith({ endpoint }).title, 'the bucket https://s3.example.com:9000/files')
    assert.equal(bucketWith({ endpoint, path_style: false }).title, 'the bucket https://files.s3.example.com:9000')
  })

  test('has its objects under the prefix', async () => {
    const store = bucketWith()
    await store.put(name, bytes)
    assert.deepEqual(server.objects.get(`of/tollgate/${name}`), bytes)
    await store.close()
  })

  for (const [what, changes, bucket, message] of [
    ['another access key', { access_key_id: 'AKIDOTHER' }, 'files', /InvalidAccessKeyId.*documents\.s3\.access_key_id/],
    [
      'another secret',
      { secret_access_key: 'not the secret' },
      'files',
      /SignatureDoesNot.*documents\.s3\.secret_access_key/,
    ],
    ['another region', { region: 'us-west-1' }, 'files', /AuthorizationHeaderMalformed.*documents\.s3\.region/],
    ['a bucket that does not exist', {}, 'other', /404 \(NoSuchBucket\)\. Create the bucket/],
  ] as const) {
    test(`refuses ${what} at the first request, and says what to correct`, async () => {
      const store = bucketWith(changes, bucket)
      const before = server.requests.length
      for (const act of [
        store.isMarked,
        store.mark,
        () => store.get(name),
        () => store.put(name, bytes),
        () => store.remove(name),
      ]) {
        await assert.rejects(act, { name: 'StoreFault', kind: 'refused', message })
      }
      assert.equal(server.requests.length, before + 5)
      await store.close()
    })
  }

  test('is asked again when it is overloaded, but not for ever', async () => {
    const store = bucketWith()
    let failures = 2
    server.fail((response) => {
      failures -= 1
      if (failures === 0) server.fail(undefined)
      refuse(response, 503, 'SlowDown')
    })
    await store.put(name, bytes)
    assert.deepEqual(await store.get(name), bytes)
    server.fail((response) => refuse(response, 500, 'InternalError'))
    const before = server.requests.length
    await assert.rejects(store.get(name), { kind: 'away', message: /status 500 \(InternalError\)/ })
    assert.equal(server.requests.length, before + 3)
    server.fail(undefined)
    await store.close()
  })

  test('that is silent or gone is away, and no message has the secret', async () => {
    server.fail(() => undefined)
    const silent = bucketWith({}, 'files', 50)
    const gone = bucketWith({ endpoint: 'http://127.0.0.1:9' })
    for (const store of [silent, gone]) {
      const error = await store.put(name, bytes).then(
        () => assert.fail('it was stored'),
        (reason: unknown) => reason,
      )
      assert.ok(error instanceof Error && 'kind' in error && error.kind === 'away')
      assert.match(error.message, /^the bucket http:\S+ does not answer \(\w+\)\.$/)
      assert.doesNotMatch(JSON.stringify(error) + String(error.stack), /wJalr/)
    }
    server.fail(undefined)
    await silent.close()
    await gone.close()
  })
})
