import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { openOwnDatabase } from '../../../../tests/support/own-database.ts'
import { createTestLog } from '../../../../tests/support/log.ts'
import { encryptionKey } from '../../../../tests/support/service.ts'
import { asSuperuser } from '../../../../tests/support/superuser.ts'
import { until } from '../../../../tests/support/until.ts'
import type { Database } from '../../../platform/database/database.ts'
import { createEncryption } from '../../../platform/encryption/encryption.ts'
import { Problem } from '../../../platform/problems.ts'
import { chunkContext } from '../contents.ts'
import { StoreFault } from '../storage/object-store.ts'
import type { ChunkRow, Storage } from '../storage/storage.ts'
import { startReading } from './reading.ts'

const { database } = openOwnDatabase()
const encryption = createEncryption(encryptionKey)
const { log } = createTestLog()
const inDatabase = { read: async ({ data }: ChunkRow) => data ?? undefined }

/** A content with a text whose one chunk is encrypted for this place. Returns the id of its client. */
async function store(place = 0): Promise<string> {
  const [client, upload] = [randomUUIDv7(), randomUUIDv7()]
  const bytes = Buffer.from('The rent is 900 a month.')
  await asSuperuser(database, async (tx) => {
    await tx.rows('set local session_replication_role = replica')
    await tx.rows('insert into client (id, name, consultant_id) values ($1, $2, $1)', [client, 'Client'])
    await tx.rows(
      `insert into document_content (client_id, digest, bytes, type, upload_id, used)
       values ($1, sha256($2), $3, 'text/plain', $4, true)`,
      [client, bytes, bytes.length, upload],
    )
    await tx.rows('insert into document_chunk (client_id, upload_id, start, bytes, data) values ($1, $2, 0, $3, $4)', [
      client,
      upload,
      bytes.length,
      encryption.encrypt(bytes, chunkContext(upload, place)),
    ])
  })
  return client
}

async function stateOf(client: string) {
  const [row] = await asSuperuser(database, (tx) =>
    tx.rows<{ reading: string; tries: number; claimed: boolean; text: string | null }>(
      `select reading, tries, claimed_until is not null as claimed,
         (select string_agg(text, '') from document_text t where t.client_id = k.client_id) as text
       from document_content k where client_id = $1`,
      [client],
    ),
  )
  return row ?? assert.fail()
}

/** The database whose transactions after the first, which claims a content, run `work` instead as long as it returns something. */
function interrupted(work: () => Promise<never> | undefined): Database {
  let calls = 0
  return {
    ...database,
    transaction: (run) => {
      calls += 1
      return (calls === 1 ? undefined : work()) ?? database.transaction(run)
    },
  }
}

const start = (through: Database, storage: Pick<Storage, 'read'> = inDatabase) =>
  startReading({ database: through, encryption, storage, log, pause: 5 })

describe('reading a document', () => {
  test('goes on once the database is back', async () => {
    const client = await store()
    let outages = 5
    const away = () => (outages-- > 0 ? Promise.reject(new Problem('unavailable', 'away')) : undefined)
    const reading = start(interrupted(away))
    await until(async () => (await stateOf(client)).reading !== 'waiting')
    await reading.close()
    assert.ok(outages < 0)
    assert.deepEqual(await stateOf(client), {
      reading: 'read',
      tries: 1,
      claimed: false,
      text: 'The rent is 900 a month.',
    })
  })

  test('is begun again within seconds if it fails once', async () => {
    const client = await store()
    let failures = 1
    const reading = start(interrupted(() => (failures-- > 0 ? Promise.reject(new Error('chance')) : undefined)))
    await until(async () => {
      const found = await asSuperuser(database, (tx) =>
        tx.rows(
          `select from document_content where client_id = $1 and (reading = 'read'
             or tries = 1 and claimed_until <= clock_timestamp() + interval '5 seconds')`,
          [client],
        ),
      )
      return found.length === 1
    })
    await reading.close()
  })

  test('waits while the storage is away, which counts as no attempt, and reads others meanwhile', async () => {
    const [waiting, other] = [await store(), await store()]
    let isAway = true
    const away = async (chunk: ChunkRow) => {
      const [row] = await asSuperuser(database, (tx) =>
        tx.rows<{ client: string }>('select client_id as client from document_chunk where data = $1', [chunk.data]),
      )
      if (!isAway || row?.client !== waiting) return chunk.data ?? undefined
      throw new Problem('unavailable', 'away', { cause: new StoreFault('away', 'away') })
    }
    const reading = start(database, { read: away })
    await until(async () => (await stateOf(other)).reading === 'read')
    await until(async () => {
      const { reading: state, tries, claimed } = await stateOf(waiting)
      return state === 'waiting' && tries === 0 && claimed
    })
    isAway = false
    await asSuperuser(database, (tx) =>
      tx.rows('update document_content set claimed_until = null where client_id = $1', [waiting]),
    )
    await until(async () => (await stateOf(waiting)).reading === 'read')
    await reading.close()
  })

  test('finds bytes that were not written for this place damaged', async () => {
    const client = await store(1)
    const reading = start(database)
    await until(async () => (await stateOf(client)).reading !== 'waiting')
    await reading.close()
    const { reading: state, text } = await stateOf(client)
    assert.deepEqual([state, text], ['damaged', null])
  })

  test('ends at once when the service stops, and counts as not begun', async () => {
    const client = await store()
    const { promise: begun, resolve } = Promise.withResolvers<void>()
    const never = new Promise<never>(() => undefined)
    let isHung = true
    const reading = start(
      interrupted(() => {
        resolve()
        return isHung ? never : undefined
      }),
    )
    await begun
    isHung = false
    await reading.close()
    assert.deepEqual(await stateOf(client), { reading: 'waiting', tries: 0, claimed: false, text: null })
  })
})
