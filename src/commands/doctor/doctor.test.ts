import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { spawn } from 'node:child_process'
import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { tollgateHere } from '../../../tests/support/command-line.ts'
import { insertCredit } from '../../../tests/support/credit.ts'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { isEndure } from '../../../tests/support/draws.ts'
import { startServer } from '../../../tests/support/echo-server.ts'
import { writeEmbeddingModel } from '../../../tests/support/embedding-model.ts'
import { nobody } from '../../../tests/support/embedded.ts'
import { tinyFile } from '../../../tests/support/engine.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { fixture, setUp, temporaryFolder } from '../../../tests/support/fixture.ts'
import { localEmbedder, shippedModel } from '../../../tests/support/service.ts'
import { main } from '../../../tests/support/start.ts'
import { serve } from '../../../tests/support/server.ts'
import { openCurrency } from '../../billing/currency/currency.ts'
import { openDatabase } from '../../platform/database/database.ts'
import { openEncryption } from '../../platform/encryption/encryption-check.ts'

const folder = temporaryFolder()

const home = fixture(() => createTestDatabase())
setUp(async () => {
  await chmod(folder, 0o755)
  await writeFile(path.join(folder, 'tollgate.yaml'), '')
})

const environment = () => ({
  DATABASE_URL: home.url,
  TOLLGATE_DATA: folder,
  TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml'),
  PORT: '0',
})

/** The line about one check. */
async function lineOf(name: string, changes: Record<string, string>): Promise<string> {
  const { stdout } = await tollgateHere(['doctor'], { ...environment(), ...changes })
  return stdout.split('\n').find((line) => line.slice(7).startsWith(`${name} `)) ?? assert.fail(stdout)
}

test("A49 a clock ahead of the database's or behind it", async (t) => {
  assert.match(await lineOf('clock', {}), /^ok {5}clock +within 2 s of the database's$/)
  const now = Date.now()
  for (const step of [3_600_000, -3_600_000]) {
    t.mock.timers.enable({ apis: ['Date'], now: now + step })
    const line = await lineOf('clock', {})
    t.mock.timers.reset()
    assert.match(line, /^WRONG {2}clock .* are 3\d{3} s apart: synchronise both by NTP\.$/, `${step}`)
  }
})

test('A49 fewer connections than the processes may use, by the limit of the database', async () => {
  assert.match(await lineOf('connections', {}), /^ok {5}connections +\d+ are admitted, and up to 20 used$/)
  const database = openDatabase(home.superuserUrl, { log: createTestLog().log, connections: 1 })
  const name = new URL(home.url).pathname.slice(1)
  await database.rows(`alter database ${name} connection limit 19`)
  const line = await lineOf('connections', {})
  await database.rows(`alter database ${name} connection limit -1`)
  await database.close()
  assert.match(line, /^WRONG {2}connections +The database admits 19 connections, and the service uses up to 20: raise /)
})

test('a data folder that is a file, or in one', async () => {
  const file = path.join(folder, 'tollgate.yaml')
  for (const TOLLGATE_DATA of [file, path.join(file, 'data')]) {
    const line = await lineOf('data folder', { TOLLGATE_DATA })
    assert.match(line, /^WRONG {2}data folder +\S+tollgate\.yaml is not a folder: move it, or set TOLLGATE_DATA\.$/)
  }
  const missing = path.join(folder, 'not/yet')
  assert.match(await lineOf('data folder', { TOLLGATE_DATA: missing }), /^ok .*not\/yet; the first start creates it$/)
})

test('a damaged encryption key', async () => {
  const file = path.join(folder, 'encryption.key')
  assert.match(await lineOf('encryption key', {}), /^ok {5}encryption key none yet; the first start creates it$/)
  await writeFile(file, 'AAAA')
  const line = await lineOf('encryption key', {})
  await rm(file)
  assert.match(line, /^WRONG {2}encryption key \S+encryption\.key is damaged: restore it from a backup/)
})

test('an encryption key that is missing or another', async () => {
  const own = await createTestDatabase()
  const database = openDatabase(own.url, { log: createTestLog().log })
  const file = path.join(folder, 'encryption.key')
  await openEncryption(database, { data: folder })
  const find = () => lineOf('encryption key', { DATABASE_URL: own.url })
  assert.match(await find(), /^ok {5}encryption key the one with which this database's secrets are encrypted$/)
  await writeFile(file, randomBytes(32).toString('base64'))
  assert.match(await find(), /^WRONG {2}encryption key \S+encryption\.key is not the key with which/)
  await rm(file)
  assert.match(await find(), /^WRONG {2}encryption key \S+encryption\.key is missing, and this database has secrets/)
  await assert.rejects(stat(file), { code: 'ENOENT' }, 'it creates none')
  await database.close()
  await own.drop()
})

test('a data folder that this user may not read, write or enter', async () => {
  const closed = path.join(folder, 'closed')
  await mkdir(closed)
  for (const mode of isEndure ? [0o555, 0o333, 0o666] : [0o555]) {
    await chmod(closed, mode)
    const env = { ...environment(), TOLLGATE_DATA: path.join(closed, 'data') }
    const child = spawn(process.execPath, [main, 'doctor'], { env, stdio: ['ignore', 'pipe', 'ignore'], ...nobody })
    assert.match(await text(child.stdout), /\nWRONG {2}data folder +\S+ is not writable: give this user write access/)
  }
  await chmod(closed, 0o755)
})

test('a data folder that is not needed, because the configuration has the database and the key', async () => {
  const settings = path.join(folder, 'key.yaml')
  await writeFile(settings, `encryption_key: ${randomBytes(32).toString('base64')}`)
  const TOLLGATE_DATA = path.join(folder, 'tollgate.yaml')
  const line = await lineOf('data folder', { TOLLGATE_DATA, TOLLGATE_CONFIG: settings })
  assert.match(line, /^ok {5}data folder +not needed: the configuration has the database and encryption_key$/)
  const embedded = { TOLLGATE_DATA, TOLLGATE_CONFIG: settings, DATABASE_URL: 'embedded' }
  assert.match(await lineOf('data folder', embedded), /^WRONG/)
})

test('how people sign in without a provider', async () => {
  const settings = path.join(folder, 'sign-in.yaml')
  const lineWith = async (signIn: object) => {
    await writeFile(
      settings,
      stringify({ sign_in: signIn, mail: { url: 'smtp://127.0.0.1:9', from: 'a@example.com' } }),
    )
    return lineOf('sign-in', { TOLLGATE_CONFIG: settings })
  }
  const none = 'ok     sign-in        no provider is configured: '
  assert.equal(await lineWith({}), `${none}nobody can sign in to the portal`)
  assert.equal(await lineWith({ password: true }), `${none}people sign in to the portal with passwords`)
  assert.equal(
    await lineWith({ password: true, email_link: true }),
    `${none}people sign in to the portal with passwords or email links`,
  )
})

test('settings that let nobody sign in', async () => {
  const settings = path.join(folder, 'nobody.yaml')
  const lineWith = async (written: object, url: string) => {
    await writeFile(settings, stringify({ mail: { url: 'smtp://127.0.0.1:9', from: 'a@example.com' }, ...written }))
    return lineOf('sign-in', { TOLLGATE_CONFIG: settings, DATABASE_URL: url })
  }
  const password = { sign_in: { password: true } }
  const open = /^ok {5}sign-in +no provider is configured: people sign in to the portal with passwords$/
  for (const base_url of ['https://tollgate.example.com', 'http://localhost:8080']) {
    assert.match(await lineWith({ base_url, ...password }, home.url), open, base_url)
  }
  const plain = await lineWith({ base_url: 'http://tollgate.example.com', ...password }, home.url)
  assert.match(
    plain,
    /^WRONG {2}sign-in +Nobody can sign in at http:\/\/tollgate\.example\.com: .* Set base_url to the https:/,
  )
  const apiOnly = await lineWith({ base_url: 'http://10.0.0.5:8080' }, home.url)
  assert.match(apiOnly, /^ok {5}sign-in +no provider is configured: nobody can sign in to the portal$/)
  const closed = /^WRONG {2}sign-in +Nobody can sign in to the portal: configure a provider in sign_in\.providers/
  assert.match(await lineWith({ sign_in: { first_partner: 'ruth@example.com' } }, home.url), closed)
  const own = await createTestDatabase()
  const database = openDatabase(own.url, { log: createTestLog().log })
  await database.rows(
    `insert into person (id, name, role, created_at) values (gen_random_uuid(), 'Ruth', 'partner', now())`,
  )
  assert.match(await lineWith({}, own.url), closed)
  await database.rows(`update person set status = 'disabled'`)
  assert.match(await lineWith({}, own.url), /^ok/)
  await database.close()
  await own.drop()
})

test('a currency that is not the one of the amounts', async () => {
  const own = await createTestDatabase()
  const database = openDatabase(own.url, { log: createTestLog().log })
  const settings = path.join(folder, 'currency.yaml')
  const lineWith = async (currency: string) => {
    await writeFile(settings, stringify({ currency }))
    return lineOf('currency', { TOLLGATE_CONFIG: settings, DATABASE_URL: own.url })
  }
  assert.match(await lineWith('EUR'), /^ok {5}currency +EUR; the first start records it$/)
  await openCurrency(database, 'EUR')
  await insertCredit(database)
  assert.match(await lineWith('EUR'), /^ok {5}currency +EUR; no amount is in another one$/)
  assert.match(await lineWith('CHF'), /^WRONG {2}currency +currency is CHF, but this database has credit in EUR/)
  assert.match(await lineWith('EUR'), /^ok/, 'it changes nothing')
  await database.close()
  await own.drop()
})

test('texts of the configuration that no PDF could show (B110)', async () => {
  const file = path.join(folder, 'letterhead.yaml')
  const lineWith = async (settings: object) => {
    await writeFile(file, stringify(settings))
    return lineOf('letterhead', { TOLLGATE_CONFIG: file })
  }
  assert.match(await lineWith({ firm: { name: 'Łódź & 東京', closing: 'שלום' } }), /^ok {5}letterhead/)
  const tax = [{ id: 'exempt', category: 'E', rate: '0', reason: 'Exempt \u{13000}' }]
  assert.match(
    await lineWith({ firm: { name: 'Nile \u{13001}' }, invoicing: { tax } }),
    /^WRONG {2}letterhead .* firm\.name \(\u{13001}\), invoicing\.tax\[0\]\.reason \(\u{13000}\)\.$/u,
  )
})

test('a port in use by Tollgate, by another program, and an address of another machine', async () => {
  const { server, port } = await startServer()
  assert.match(await lineOf('port', { PORT: `${port}` }), /^ok .* in use by Tollgate, which is running$/)
  await server.close()
  const other = await serve((_request, response) => response.end('ok'))
  const taken = new URL(other.url).port
  assert.match(await lineOf('port', { PORT: taken }), /^WRONG {2}port .* is used by another program/)
  await other.close()
  assert.match(
    await lineOf('port', { HOST: '203.0.113.1', PORT: taken }),
    /^WRONG {2}port +Tollgate cannot listen on 203\.0\.113\.1:\d+ \(EADDRNOTAVAIL\): change HOST or PORT\.$/,
  )
})

test('a model file that makes something else than its kind', async () => {
  const embedder = path.join(folder, 'embedder.gguf')
  await writeEmbeddingModel(embedder)
  const lineWith = async (model: object) => {
    const file = path.join(folder, 'models.yaml')
    await writeFile(file, stringify({ models: [model] }))
    return lineOf('models', { TOLLGATE_CONFIG: file })
  }
  assert.match(await lineWith(localEmbedder(embedder)), /^ok .*embedder: every file and package is usable$/)
  const asEmbeddings = await lineWith(localEmbedder(tinyFile))
  assert.match(asEmbeddings, /^WRONG .*tiny\.gguf makes text, not embeddings\. Remove kind: embeddings from this model/)
  const asText = await lineWith(shippedModel({ file: embedder }))
  assert.match(asText, /^WRONG .*embedder\.gguf makes embeddings, not text\. Set kind: embeddings for this model\.$/)
})
