import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createConfigFolder, upstream } from '../../../tests/support/config.ts'
import { tollgateHere } from '../../../tests/support/command-line.ts'
import { insertCredit } from '../../../tests/support/credit.ts'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { parseObject } from '../../../tests/support/json.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { freePorts, start } from '../../../tests/support/start.ts'
import { until } from '../../../tests/support/until.ts'
import type { Config } from '../../platform/config/config.ts'
import { openCurrency } from '../../billing/currency/currency.ts'
import { openDatabase } from '../../platform/database/database.ts'
import { openEncryption } from '../../platform/encryption/encryption-check.ts'
import { createContext } from '../context.ts'
import { startCommand } from './start.ts'

const { load } = createConfigFolder()

/** What `start` asks of an embedded server, which is not started here. */
async function connectionsFor(processes: number): Promise<number | undefined> {
  const config: Config = load(`${upstream()}listen: { port: 0, processes: ${processes} }`, { TOLLGATE_DEMO: '0' })
  const { stdout, stderr } = process
  const real = createContext({ environment: {}, root: path.resolve('.'), stdout, stderr })
  let asked: number | undefined
  const command = startCommand({
    ...real,
    config: async () => config,
    async databaseUrl(starting) {
      asked = starting?.connections
      throw new Error('asked')
    },
  })
  await assert.rejects(command.parseAsync([], { from: 'user' }), /^Error: asked$/)
  await real.close()
  return asked
}

test('an embedded server allows 20 connections for each process and 40 for commands, and at least 100', async () => {
  assert.deepEqual(await Promise.all([1, 3, 4, 8].map(connectionsFor)), [100, 100, 120, 200])
})

test('another encryption key, and another currency for existing amounts, need a flag; --json prints one document; A49 too few connections are logged', async () => {
  const own = await createTestDatabase()
  const folder = await mkdtemp(path.join(tmpdir(), 'tollgate-start-'))
  const TOLLGATE_CONFIG = path.join(folder, 'tollgate.yaml')
  const database = openDatabase(own.url, { log: createTestLog().log })
  await openEncryption(database, { data: folder })
  await openCurrency(database, 'EUR')
  await insertCredit(database)
  await writeFile(path.join(folder, 'encryption.key'), Buffer.alloc(32, 1).toString('base64'))
  const PORT = String(await freePorts())
  const environment = { DATABASE_URL: own.url, TOLLGATE_DATA: folder, TOLLGATE_CONFIG, PORT }
  await writeFile(TOLLGATE_CONFIG, `${upstream()}currency: EUR\n`)
  const otherKey = await tollgateHere(['start'], environment)
  await writeFile(TOLLGATE_CONFIG, `${upstream()}currency: CHF\nlisten: { processes: 2 }\n`)
  const otherCurrency = await tollgateHere(['start', '--new-encryption-key'], environment)
  const invoices = await tollgateHere(['invoice', 'run', '--month', '2026-01'], environment)
  for (const [{ status, stderr }, words] of [
    [otherKey, /encryption\.key is not the key with .* start once with --new-encryption-key/],
    [otherCurrency, /currency is CHF, but this database has credit in EUR.* start once with --new-currency/],
    [invoices, /currency is CHF, but this database has credit in EUR.* start once with --new-currency/],
  ] as const) {
    assert.equal(status, 1)
    assert.match(stderr, words)
  }
  await database.rows(`alter database ${new URL(own.url).pathname.slice(1)} connection limit 39`)
  const started = await start(environment, { json: true, flags: ['--new-encryption-key', '--new-currency'] })
  await until(() => started.stderr.includes('The database admits 39 connections, and the service uses up to 40:'))
  assert.equal(await started.end(), 0)
  const url = `http://localhost:${PORT}`
  assert.deepEqual(parseObject(started.stdout), { url, docs: `${url}/docs`, key: null, warning: null })
  await openEncryption(database, { data: folder })
  const by = { actor: 'command', outcome: 'allowed' }
  assert.deepEqual(
    await database.rows(`select distinct action, actor, outcome from audit where action like '%_replaced' order by 1`),
    ['currency_replaced', 'encryption_key_replaced'].map((action) => ({ action, ...by })),
  )
  await database.close()
  await own.drop()
  await rm(folder, { recursive: true })
})

test('an address that no interface has is refused in one line', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tollgate-host-'))
  const database = await createTestDatabase()
  for (const host of ['203.0.113.1', 'fe80::1']) {
    const { status, stderr } = await tollgateHere(['start'], {
      DATABASE_URL: database.url,
      TOLLGATE_DATA: folder,
      HOST: host,
      PORT: '0',
    })
    assert.equal(stderr, `This machine has no address ${host}. Set HOST to one it has, such as 127.0.0.1.\n`)
    assert.equal(status, 1)
  }
  await database.drop()
  await rm(folder, { recursive: true })
})
