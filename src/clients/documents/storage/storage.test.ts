import assert from 'node:assert/strict'
import { createHash, randomUUIDv7 } from 'node:crypto'
import { mkdir, readdir, rename } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { verifyErasures } from '../../../client-data/verify.ts'
import { startBucketServer } from '../../../../tests/support/bucket-server.ts'
import { fixture, temporaryFolder } from '../../../../tests/support/fixture.ts'
import { createTestLog } from '../../../../tests/support/log.ts'
import { openOwnDatabase } from '../../../../tests/support/own-database.ts'
import { asSuperuser } from '../../../../tests/support/superuser.ts'
import type { Place } from './object-store.ts'
import { removeObjects } from './removal.ts'
import { isStorageAway, openStorage, surveyStorage } from './storage.ts'

const { database } = openOwnDatabase()
const scratch = temporaryFolder()
const server = fixture(() => startBucketServer())

const folderAt = (part: string) => ({ kind: 'folder' as const, folder: path.join(scratch, part) })
const bucket = { kind: 'bucket' as const, bucket: 'files', prefix: '' }
const inDatabase = { kind: 'database' as const }

type Documents = Parameters<typeof surveyStorage>[0]['documents']
const survey = (documents: Documents) => surveyStorage({ documents }, database)

async function open(documents: Documents) {
  const { log, text } = createTestLog()
  const storage = await openStorage({ config: { documents }, database, log })
  return { storage, text }
}

const nameOf = (id: string) => createHash('sha256').update(id).digest('hex')
const unnoted = async () => undefined

/** Notes an object at a place that waits for its removal. Returns its client. */
async function noteAt(place: Place, removeAfter: Date | null = new Date()): Promise<string> {
  const id = randomUUIDv7()
  await asSuperuser(database, async (tx) => {
    await tx.rows('set local session_replication_role = replica')
    await tx.rows(
      `insert into document_object (digest, client_id, place, remove_after) values (sha256($1), $2, $3, $4)`,
      [id, id, place, removeAfter],
    )
  })
  return id
}

/** The same for as long as `work` takes. */
async function withObjectAt(place: Place, work: () => Promise<void>): Promise<void> {
  const id = await noteAt(place)
  await work()
  await asSuperuser(database, (tx) => tx.rows('delete from document_object where client_id = $1', [id]))
}

test('the first start prepares a folder, and a check changes nothing', async () => {
  const store = folderAt('new')
  assert.match(await survey({ store }), /^the folder \S+new; the first start prepares it$/)
  assert.deepEqual(await readdir(scratch), [])
  const { storage } = await open({ store })
  await storage.close()
  assert.deepEqual(await readdir(store.folder), ['tollgate-documents'])
  assert.match(await survey({ store }), /^the folder \S+new$/)
  assert.equal(await survey({ store: inDatabase }), 'in the database')
})

test('a place in which there are documents must be configured', async () => {
  await withObjectAt('folder', async () => {
    const message =
      'Documents are stored in a folder that the configuration does not name. Set documents.former_store to it.'
    await assert.rejects(open({ store: inDatabase }), { name: 'OperatorError', message })
    await assert.rejects(survey({ store: inDatabase }), { name: 'OperatorError', message })
  })
})

test('a folder without its documents is not filled anew, and works once they are back', async () => {
  const store = folderAt('mounted')
  const first = await open({ store })
  await first.storage.close()
  await withObjectAt('folder', async () => {
    await rename(store.folder, `${store.folder}.away`)
    await mkdir(store.folder)
    await assert.rejects(survey({ store }), { message: /has no object tollgate-documents/ })
    const { storage, text } = await open({ store })
    assert.match(text(), /documents cannot be stored or read until their storage is back/)
    const missing = { data: null, object: 'a'.repeat(64), place: 'folder' } as const
    for (const act of [
      () => storage.put('b'.repeat(64), Buffer.from('x'), unnoted),
      () => storage.read(missing),
      () => storage.remove('folder', missing.object),
    ]) {
      await assert.rejects(act, (error: unknown) => isStorageAway(error))
    }
    assert.deepEqual(await readdir(store.folder), [])
    await rename(`${store.folder}.away`, store.folder)
    await storage.put('b'.repeat(64), Buffer.from('x'), unnoted)
    assert.equal(await storage.read(missing), undefined)
    await storage.close()
  })
})

test('an object that cannot be removed holds up no others, and is not forgotten', async () => {
  const [stuck, ...others] = [await noteAt('folder'), await noteAt('folder'), await noteAt('bucket')]
  const removed: string[] = []
  const storage = {
    places: ['folder', 'bucket'] as const,
    async remove(_place: Place, name: string) {
      if (name === nameOf(stuck)) throw new Error('Permission denied')
      removed.push(name)
    },
  }
  assert.equal(await removeObjects({ database, storage }), 2)
  assert.deepEqual(removed, others.map(nameOf))
  await assert.rejects(removeObjects({ database, storage }), { message: 'Permission denied' })
  const left = await asSuperuser(database, (tx) => tx.rows('delete from document_object returning client_id'))
  assert.deepEqual(left, [{ client_id: stuck }])
})

test('an object that no chunk has and nothing removes is found', async () => {
  const faults = async () => (await verifyErasures(database)).flatMap((check) => check.faults)
  assert.deepEqual(await faults(), [])
  const id = await noteAt('folder', null)
  assert.deepEqual(await faults(), [
    {
      object: nameOf(id),
      place: 'folder',
      client: id,
      fault: 'no document has it, and it is not going to be removed',
    },
  ])
  await asSuperuser(database, (tx) => tx.rows('delete from document_object'))
})

test('a chunk whose object cannot be released is not deleted', async () => {
  const id = await noteAt('folder', null)
  await asSuperuser(database, async (tx) => {
    await tx.rows('set local session_replication_role = replica')
    await tx.rows(
      'insert into document_chunk (client_id, upload_id, start, bytes, object) values ($1, $1, 0, 1, sha256($2))',
      [id, id],
    )
  })
  const remove = (prepare: string) =>
    asSuperuser(database, async (tx) => {
      await tx.rows(prepare)
      return tx.rows('delete from document_chunk returning client_id')
    })
  const hidden = 'create rule hidden as on update to document_object do instead nothing'
  await assert.rejects(remove(hidden), { message: 'an object of a deleted chunk was not released' })
  assert.deepEqual(await remove('select'), [{ client_id: id }])
  const released = await asSuperuser(database, (tx) =>
    tx.rows('delete from document_object where remove_after is not null returning client_id'),
  )
  assert.deepEqual(released, [{ client_id: id }])
})

test('a bucket with wrong credentials keeps the service from starting, and one that does not answer does not', async () => {
  const s3 = { ...server.settings, secret_access_key: 'not the secret' }
  for (const act of [() => open({ store: bucket, s3 }), () => survey({ store: bucket, s3 })]) {
    await assert.rejects(act, {
      name: 'OperatorError',
      message: /SignatureDoesNotMatch.*Correct documents\.s3\.secret_access_key\./,
    })
  }
  server.fail((response) => response.writeHead(503).end())
  const { storage, text } = await open({ store: bucket, s3: server.settings })
  assert.match(text(), /documents cannot be stored or read until their storage is back/)
  await assert.rejects(storage.put('c'.repeat(64), Buffer.from('x'), unnoted), { code: 'unavailable' })
  server.fail(undefined)
  // The first object is noted after the bucket is prepared. Otherwise the bucket would seem to have lost it.
  await storage.put('c'.repeat(64), Buffer.from('x'), async () => void (await noteAt('bucket')))
  assert.deepEqual([...server.objects.keys()].toSorted(), ['c'.repeat(64), 'tollgate-documents'])
  await storage.close()
})
