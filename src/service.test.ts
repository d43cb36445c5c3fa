import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConfigFolder, upstream } from '../tests/support/config.ts'
import { createTestDatabase } from '../tests/support/database.ts'
import { createTestLog } from '../tests/support/log.ts'
import { openService } from './service.ts'

const { load } = createConfigFolder()

test('a start whose server cannot be built leaves nothing open', async (t) => {
  const database = await createTestDatabase()
  const config = load(`${upstream()}encryption_key: ${Buffer.alloc(32, 7).toString('base64')}\n`)
  const listen = { ...config.listen, trusted_proxies: ['no address'] }
  const begun = t.mock.method(globalThis, 'setTimeout').mock
  const ended = t.mock.method(globalThis, 'clearTimeout').mock
  // No other timer has this duration.
  const recoveryPause = 4_999_999
  const opening = openService({
    config: { ...config, listen },
    databaseUrl: database.url,
    log: createTestLog().log,
    recoveryPause,
  })
  await assert.rejects(opening, /no address/)
  const timers = begun.calls.filter(({ arguments: [, ms] }) => ms === recoveryPause).map(({ result }) => result)
  assert.equal(timers.length, 1)
  assert.ok(ended.calls.some(({ arguments: [timer] }) => timer === timers[0]))
  await database.drop()
})
