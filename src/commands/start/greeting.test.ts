import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { parseObject } from '../../../tests/support/json.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { loadConfig } from '../../platform/config/config.ts'
import { openService } from '../../service.ts'
import { greeting } from './greeting.ts'
import { serve } from './serve.ts'

test('if several instances start at once, one creates the demo account and shows its key', async () => {
  const database = await createTestDatabase()
  const environment = { DATABASE_URL: database.url, TOLLGATE_DEMO: '1' }
  const config = loadConfig({ environment, root: path.resolve('.') })
  const { log } = createTestLog()
  const services = await Promise.all([1, 2, 3].map(() => openService({ config, databaseUrl: database.url, log })))
  const greetings = await Promise.all(services.map((service) => greeting(service, { settings: config })))
  assert.equal(
    greetings.filter((text) => /^The account Demo has .* shown only this once:\n\n {2}tg_/m.test(text)).length,
    1,
  )
  assert.equal(greetings.filter((text) => text.includes('Create a key:  ')).length, 2)
  assert.equal((await services[0]?.accounts.list())?.length, 1)
  assert.ok(greetings.some((text) => text.includes('has 10.00 USD of credit')))
  await Promise.all(services.map((service) => service.close()))
  await database.drop()
})

test('as JSON, it is one document with the address, the key and what is wrong; nobody signs in before the samples are in', async () => {
  const database = await createTestDatabase()
  const environment = { DATABASE_URL: database.url, TOLLGATE_DEMO: '1' }
  const settings = loadConfig({ environment, root: path.resolve('.') })
  const { log } = createTestLog()
  const listen = { ...settings.listen, port: 0 }
  const serving: boolean[] = []
  const service = await serve({ config: { ...settings, listen }, databaseUrl: database.url, log }, async ({ app }) => {
    serving.push(app.server.listening)
  })
  assert.deepEqual([serving, service.app.server.listening], [[false], true])
  const config = { ...settings, drafting: { account: 'Nobody', model: 'default', notice: 'By AI \u{13000}' } }
  const [first, second] = await Promise.all([
    greeting(service, { settings, json: true }).then((text) => parseObject(text)),
    greeting(service, { settings: { ...settings, demo: false }, config, json: true }).then((text) => parseObject(text)),
  ])
  const [url, docs] = ['http://localhost:8080', 'http://localhost:8080/docs']
  assert.match(String(first['key']), /^tg_\w+/)
  assert.deepEqual({ ...first, key: '' }, { url, docs, key: '', warning: null })
  assert.match(
    String(second['warning']),
    /the account "Nobody", which does not exist.* no font has .* drafting\.notice/,
  )
  assert.deepEqual({ ...second, warning: '' }, { url, docs, key: null, warning: '' })
  await service.close()
  await database.drop()
})
