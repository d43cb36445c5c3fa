import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { verifyBooks } from '../../src/billing/verify.ts'
import { openDatabase } from '../../src/platform/database/database.ts'
import { tollgateHere } from '../support/command-line.ts'
import { createTestDatabase } from '../support/database.ts'
import { parseObject } from '../support/json.ts'
import { createTestLog } from '../support/log.ts'
import { freePorts, start } from '../support/start.ts'
import { until } from '../support/until.ts'
import { startEmbeddingVendor } from '../support/vendor-embeddings.ts'

test('embeddings whose instance is killed between the answer of the upstream and its charge cost nothing and are sent to nobody', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tollgate-embeddings-'))
  const vendor = await startEmbeddingVendor()
  const home = await createTestDatabase()
  const database = openDatabase(home.url, { log: createTestLog().log, connections: 3 })
  const port = await freePorts()
  const model = { id: 'vectors', engine: 'openai', kind: 'embeddings', endpoints: [{ url: vendor.url }] }
  const models = [{ ...model, upstream_model: 'm', context: 8192, price: { input: '0.02' } }]
  const file = path.join(folder, 'tollgate.yaml')
  await writeFile(file, stringify({ listen: { port }, models }))
  const environment = { DATABASE_URL: home.url, TOLLGATE_CONFIG: file, TOLLGATE_DATA: folder }
  const embed = (key: string) =>
    fetch(`http://127.0.0.1:${port}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ model: 'vectors', input: 'One' }),
    })

  let service = await start(environment)
  try {
    await tollgateHere(['account', 'create', '--name', 'A', '--credit', '1'], environment)
    const made = await tollgateHere(['key', 'create', '--account', 'A', '--name', 'k', '--json'], environment)
    const key = String(parseObject(made.stdout)['key'])
    const books = async () => {
      const [row] = await database.rows<{ rows: bigint; holds: bigint; held: bigint; charged: bigint }>(
        `select (select count(*) from ledger) as rows, (select count(*) from hold) as holds, held, charged
         from account where name = 'A'`,
      )
      return row ?? assert.fail()
    }

    const waiting = () =>
      database.rows<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
         and pg_blocking_pids(pid) <> '{}'`,
      )

    await database.transaction(async (tx) => {
      // The upstream answers once nobody else can settle.
      vendor.answer = () => 'nothing'
      const unanswered = assert.rejects(embed(key))
      await until(() => vendor.calls.length === 1)
      assert.deepEqual(await books().then(({ rows, holds }) => [rows, holds]), [0n, 1n])
      await tx.rows(`select from account where name = 'A' for update`)
      vendor.release()
      await until(async () => (await waiting()).length > 0)
      await service.end('SIGKILL')
      await unanswered
      // What the dead instance had sent must not commit after all.
      await until(async () => {
        await database.rows(`select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1)`, [
          (await waiting()).map(({ pid }) => pid),
        ])
        return (await waiting()).length === 0
      })
    })
    assert.deepEqual(await books().then(({ rows, charged }) => [rows, charged]), [0n, 0n])

    service = await start(environment)
    await until(async () => (await books()).holds === 0n)
    const { rows, held, charged } = await books()
    assert.deepEqual([rows, held, charged], [0n, 0n, 0n])
    const again = await embed(key)
    assert.equal(again.status, 200)
    assert.equal((await books()).charged, 9n * 20_000n)
    assert.ok((await verifyBooks(database)).ok)
  } finally {
    await service.end()
    await database.close()
    await vendor.close()
    await home.drop()
    await rm(folder, { recursive: true })
  }
})
