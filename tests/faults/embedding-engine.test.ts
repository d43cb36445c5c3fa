import assert from 'node:assert/strict'
import path from 'node:path'
import { after, it } from 'node:test'
import { settle } from '../support/clock.ts'
import { isEndure } from '../support/draws.ts'
import { smallEmbedder, writeEmbeddingModel } from '../support/embedding-model.ts'
import { engines } from '../support/engine-processes.ts'
import { localEmbedder, startService, type Customer, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { setUp, temporaryFolder } from '../support/fixture.ts'

const folder = temporaryFolder()
let service: Service
setUp(async () => {
  const file = path.join(folder, 'embedder.gguf')
  await writeEmbeddingModel(file, { ...smallEmbedder, layers: 8 })
  service = await startService({ models: [localEmbedder(file)] })
  await service.untilReady()
})
after(() => service.close())

const text = 'a '.repeat(smallEmbedder.context - 2)
const many = Array.from({ length: 2048 }, () => text)
const allTokens = many.length * smallEmbedder.context

/** A request for many vectors, and the process id of its engine, which is stopped in the middle of it. */
async function stopped() {
  for (let tries = 1; ; tries++) {
    const customer: Customer = await service.customer()
    const caller = new AbortController()
    let ended = false
    const asked = service
      .post('/v1/embeddings', customer.key, { model: 'embedder', input: many }, { signal: caller.signal })
      .finally(() => (ended = true))
    await until(async () => ended || (await service.books(customer.accountId)).holds === 1)
    const [pid, ...others] = engines()
    assert.ok(pid !== undefined && others.length === 0)
    process.kill(pid, 'SIGSTOP')
    await settle()
    if (!ended) return { customer, caller, asked, pid }
    // The engine was scheduled and this process was not.
    assert.ok(tries < 10)
    process.kill(pid, 'SIGCONT')
  }
}

async function isServedAgain({ key }: Customer): Promise<void> {
  // Requests in the meantime wait for the engine for a few seconds.
  await until(async () => {
    const next = await service.call('/v1/embeddings', key, { model: 'embedder', input: 'the client' })
    if (next.status === 200) return true
    assert.equal(next.error['code'], 'unavailable', next.text)
    return false
  })
}

for (const signal of isEndure ? (['SIGKILL', 'SIGABRT'] as const) : (['SIGKILL'] as const)) {
  it(`an engine that ends by ${signal} in the middle of a request costs its caller nothing, and comes back`, async () => {
    const { customer, asked, pid } = await stopped()
    process.kill(pid, signal)
    process.kill(pid, 'SIGCONT')
    const response = await asked
    const answer: unknown = await response.json()
    assert.partialDeepStrictEqual([response.status, answer], [503, { error: { code: 'unavailable' } }])
    assert.ok(Number(response.headers.get('retry-after')) >= 1)
    const refused = await service.books(customer.accountId)
    assert.deepEqual([refused.rows.length, refused.holds, refused.held], [0, 0, 0n])
    await isServedAgain(customer)
    const { rows, holds } = await service.books(customer.accountId)
    assert.deepEqual([rows.map(({ inputTokens }) => inputTokens), holds], [[4], 0])
    assert.notEqual(engines()[0], pid)
  })
}

it('a caller that disconnects frees the engine, and is charged the texts that were read', async () => {
  const { customer, caller, asked, pid } = await stopped()
  caller.abort()
  await assert.rejects(asked)
  process.kill(pid, 'SIGCONT')
  await until(async () => (await service.books(customer.accountId)).rows.length === 1)
  const { rows, holds, held } = await service.books(customer.accountId)
  const [row] = rows
  assert.ok(row)
  assert.deepEqual([row.stopReason, row.usageSource, row.outputTokens, holds, held], ['cancelled', 'model', 0, 0, 0n])
  assert.ok(row.inputTokens < allTokens && row.inputTokens % smallEmbedder.context === 0, `${row.inputTokens}`)
  assert.equal(row.cost, BigInt(row.inputTokens) * 20_000n)
  await isServedAgain(customer)
  assert.equal(engines()[0], pid, 'it is the same engine')
})
