import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { createConfigFolder } from '../../tests/support/config.ts'
import { createTestLog } from '../../tests/support/log.ts'
import type { Environment } from '../platform/config/config.ts'
import { openDemo } from './demo.ts'

const { load } = createConfigFolder()
const { log } = createTestLog()
const provider = { id: 'firm', name: 'Firm', issuer: 'https://id.example', client_id: 'x' }

/**
 * Whether the demo runs with these settings and environment. Checks that it only adds its own provider, mail server, firm and
 * account for drafts.
 */
async function runs(settings: object, environment: Environment = {}): Promise<boolean> {
  const config = load(stringify({ listen: { port: 0 }, ...settings }), environment)
  const demo = await openDemo(config, log)
  await demo?.close()
  if (demo === undefined) return false
  const { sign_in: signIn, mail, firm, drafting, try_it: tryIt, ...others } = demo.config
  const { providers, ...rest } = signIn
  assert.deepEqual(drafting, { account: 'Portal', model: 'default' })
  assert.deepEqual(tryIt, { account: 'Portal' })
  assert.equal(firm.name, config.firm.name ?? 'Penhallow Advisory')
  assert.deepEqual(
    { ...others, firm: config.firm, sign_in: { ...rest, providers: [], email_link: false, password: false } },
    config,
  )
  assert.deepEqual([rest.email_link, rest.password], [true, true])
  assert.match(mail?.url ?? '', /^smtp:\/\/127\.0\.0\.1:\d+$/)
  assert.deepEqual(
    providers.map(({ id, issuer }) => [id, issuer.replace(/\d+$/, 'PORT')]),
    [['demo', 'http://127.0.0.1:PORT']],
  )
  return true
}

test('the demo runs on the embedded default', async () => {
  assert.equal(await runs({}), true)
  assert.equal(await runs({ firm: { name: 'Berg & Sons' } }), true)
  assert.equal(await runs({ invoicing: { reminders: [7] } }), true)
  assert.equal(await runs({ base_url: 'http://127.0.0.1:8080' }), true)
  assert.equal(await runs({ base_url: 'http://tollgate.localhost:8080' }), true)
})

test('it never runs if it is off, a way to sign in is configured, or the service is reachable from other machines', async () => {
  assert.equal(await runs({}, { TOLLGATE_DEMO: '0' }), false)
  assert.equal(await runs({ sign_in: { providers: [provider] } }), false)
  const mail = { url: 'smtp://mail.example', from: 'a@firm.example' }
  assert.equal(await runs({ sign_in: { email_link: true }, mail }), false)
  assert.equal(await runs({ sign_in: { providers: [provider] } }, { TOLLGATE_DEMO: '1' }), false)
  assert.equal(await runs({ base_url: 'https://tollgate.example.com' }), false)
  assert.equal(await runs({ base_url: 'http://192.0.2.1:8080' }, { TOLLGATE_DEMO: '1' }), false)
  assert.equal(await runs({ base_url: 'http://localhost.example.com' }, { TOLLGATE_DEMO: '1' }), false)
  assert.equal(await runs({ database: 'postgres://a@db.example/a' }), false)
})
