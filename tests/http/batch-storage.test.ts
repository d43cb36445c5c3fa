import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { batchLine, uploadLines } from '../support/batches.ts'
import { fixture } from '../support/fixture.ts'
import { createGate } from '../support/gate.ts'
import { at, parseObject } from '../support/json.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())
// An account may keep ten times as much.
const most = 4 * 1024 * 1024
const service = fixture(() =>
  startService({
    models: [upstreamModel(vendor.url)],
    requestBytes: '64KiB',
    limits: { batch_bytes: '4MiB', file_bytes: '64KiB' },
  }),
)

/** Queues a batch of an uploaded file. Resolves with the status and the code of the answer. */
async function queue(key: string, file: string) {
  const { status, json } = await service.call('/v1/batches', key, {
    input_file_id: file,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  })
  return { status, code: at(json, 'error', 'code') }
}

/** Lines of half as many bytes as a file may have. */
const half = `${'x'.repeat(1023)}\n`.repeat(most / 2 / 1024)

const bytesOf = async (table: 'batch' | 'batch_file', accountId: string): Promise<number> => {
  const [row] = await service.database.rows<{ bytes: bigint }>(
    `select coalesce(sum(bytes), 0)::bigint as bytes from ${table} where account_id = $1`,
    [accountId],
  )
  return Number(row?.bytes)
}

/** Sends the beginning of a file, whose end follows when the gate opens. */
function slowly(key: string, text: string, gate: ReturnType<typeof createGate>, signal?: AbortSignal) {
  async function* body() {
    yield Buffer.from('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n')
    yield Buffer.from(text)
    await gate.pass(0)
    yield Buffer.from('\r\n--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b--\r\n')
  }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'multipart/form-data; boundary=b' }
  return fetch(`${service.url}/v1/files`, {
    method: 'POST',
    headers,
    body: ReadableStream.from(body()),
    duplex: 'half',
    ...(signal && { signal }),
  })
}

describe('what an account keeps of batches', () => {
  test('is bounded, also if one file becomes many batches', async () => {
    const { accountId, key } = await service.customer({ tokensPerMinute: 10_000_000 })
    const file = await uploadLines(service, key, [batchLine('a')])
    await service.database.rows(`update batch_file set bytes = $2 where account_id = $1`, [accountId, most])
    const answers = []
    for (let each = 0; each < 12; each++) answers.push(await queue(key, file))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [...Array.from({ length: 9 }, () => 200), 409, 409, 409],
    )
    assert.equal(answers.at(-1)?.code, 'conflict')
    assert.equal(await bytesOf('batch', accountId), 9 * most)
  })

  test('cannot exceed its number of open batches, even with two requests at once', async () => {
    const { accountId, keyId, key } = await service.customer()
    const file = await uploadLines(service, key, [batchLine('a')])
    await service.database.rows(
      `insert into batch (id, account_id, key_id, dialect, endpoint, status, lines, expires_at, kept, next_at)
       select gen_random_uuid(), $1, $2, 'openai', '/v1/chat/completions', 'in_progress', 1, 'infinity', '1 day', 'infinity' from generate_series(1, 99)`,
      [accountId, keyId],
    )
    const answers = await Promise.all(Array.from({ length: 8 }, () => queue(key, file)))
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual([statuses.filter((status) => status === 200).length, new Set(statuses)], [1, new Set([200, 409])])
    await service.database.rows('delete from batch where account_id = $1', [accountId])
  })

  test('counts a file while it arrives, and then with its size', async () => {
    const { accountId, key } = await service.customer()
    const gate = createGate()
    const arriving = slowly(key, half, gate)
    await until(async () => (await bytesOf('batch_file', accountId)) > 0)
    gate.open()
    const answer = await arriving
    assert.equal(answer.status, 200)
    const { bytes } = parseObject(await answer.text())
    assert.equal(await bytesOf('batch_file', accountId), bytes)
  })

  test('has nothing of an upload that broke off', async () => {
    const { accountId, key } = await service.customer()
    const leaving = new AbortController()
    const arriving = slowly(key, half, createGate(), leaving.signal)
    await until(async () => (await bytesOf('batch_file', accountId)) > 0)
    leaving.abort()
    await assert.rejects(arriving)
    await until(
      async () =>
        (await service.database.rows('select from batch_file where account_id = $1', [accountId])).length === 0,
    )
  })

  test('takes no more memory for lines that have not ended than other long bodies do', async () => {
    const { key } = await service.customer()
    const gate = createGate()
    // Half of each counts, and sixteen of the longest are the limit.
    const arriving = Array.from({ length: 40 }, () => slowly(key, 'x'.repeat(128 * 1024), gate))
    const refused = await Promise.race(arriving)
    assert.deepEqual([refused.status, at(parseObject(await refused.text()), 'error', 'code')], [503, 'overloaded'])
    gate.open()
    const answers = await Promise.all(arriving)
    assert.ok(answers.some(({ status }) => status === 200))
    assert.equal((await slowly(key, 'x', gate)).status, 200)
  })
})
