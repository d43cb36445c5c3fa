import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { type Database } from '../../platform/database/database.ts'
import { createEncryption } from '../../platform/encryption/encryption.ts'
import { createAttempts } from './attempts.ts'

const { database } = openOwnDatabase()

test('many submissions at the same time are counted one after another, each once', async () => {
  let [running, most] = [0, 0]
  const watched: Database = {
    ...database,
    async rows<Row>(...query: Parameters<Database['rows']>) {
      most = Math.max(most, ++running)
      return database.rows<Row>(...query).finally(() => running--)
    },
  }
  const encryption = createEncryption(Buffer.alloc(32))
  const attempts = createAttempts({ database: watched, encryption, baseUrl: 'http://localhost', clock: Date.now })
  const begin = (state: string) =>
    attempts.begin({ state, method: 'password', data: {}, returnTo: '/', cookies: undefined })
  const begun = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const [cookies] = (await begin(`state${n}`)).split(';')
      return { state: `state${n}`, cookies }
    }),
  )
  most = 0
  const tried = await Promise.all(begun.map(({ state, cookies }) => attempts.try(state, cookies)))
  assert.deepEqual(new Set(tried.map((each) => each?.triesLeft)), new Set([4]))
  assert.equal(most, 1)
})
