import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { type Queryable } from '../database/database.ts'
import { confirmEncryption, openEncryption } from './encryption-check.ts'
import { removeEncryptionCheck } from './encryption-check-store.ts'

let data: string

const { database } = openOwnDatabase()
beforeEach(async () => {
  await removeEncryptionCheck(database)
  data = await mkdtemp(path.join(tmpdir(), 'tollgate-encryption-'))
})

afterEach(() => rm(data, { recursive: true }))

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')

test('the key of the first start is recognised later', async () => {
  const secret = (await openEncryption(database, { data })).encrypt('a secret', 'here')
  assert.equal((await openEncryption(database, { data })).decrypt(secret, 'here'), 'a secret')
  assert.equal((await confirmEncryption(database, { data }))?.decrypt(secret, 'here'), 'a secret')
})

test('another key is refused, by its name', async () => {
  await openEncryption(database, { data, encryption_key: key(1) })
  const message = /^encryption_key is not the key with which this database's secrets were encrypted\./
  for (const take of [openEncryption, confirmEncryption]) {
    await assert.rejects(take(database, { data, encryption_key: key(2) }), { name: 'OperatorError', message })
  }
  await openEncryption(database, { data, encryption_key: key(1) })
})

test('a missing file is not replaced', async () => {
  await openEncryption(database, { data, encryption_key: key(1) })
  const message = /encryption\.key is missing, and this database has secrets encrypted with it\./
  for (const take of [openEncryption, confirmEncryption]) {
    await assert.rejects(take(database, { data }), { name: 'OperatorError', message })
  }
  assert.deepEqual(await readdir(data), [])
})

test('an instance that looks for the key while another creates it finds it', async () => {
  const other = () => openEncryption(database, { data })
  let isFirst = true
  const overtaken: Queryable = {
    async rows<Row>(...statement: Parameters<Queryable['rows']>) {
      if (isFirst) await other()
      isFirst = false
      return database.rows<Row>(...statement)
    },
  }
  const secret = (await openEncryption(overtaken, { data })).encrypt('a secret', 'here')
  assert.equal((await other()).decrypt(secret, 'here'), 'a secret')
})

test('of instances that start at once with different keys, only one starts', async () => {
  const keys = Array.from({ length: 8 }, (_, index) => key(index))
  const starts = await Promise.allSettled(
    keys.map((encryption_key) => openEncryption(database, { data, encryption_key })),
  )
  assert.equal(starts.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('before the first start, nothing is confirmed or created', async () => {
  assert.equal(await confirmEncryption(database, { data }), undefined)
  assert.deepEqual(await readdir(data), [])
})
