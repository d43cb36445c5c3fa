import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { createGate } from '../support/gate.ts'
import { fixture } from '../support/fixture.ts'
import { at } from '../support/json.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())
const service = fixture(() =>
  startService({ models: [upstreamModel(vendor.url)], limits: { batch_requests: 5, batch_in_flight: 1 } }),
)

const clientOf = (key: string) => new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0 })
const requestOf = (custom_id: string, params: object = {}) => ({
  custom_id,
  params: {
    model: 'fast',
    max_tokens: 10,
    messages: [{ role: 'user' as const, content: `Hello ${custom_id}` }],
    ...params,
  },
})

async function ended(client: Anthropic, id: string) {
  let batch = await client.messages.batches.retrieve(id)
  await until(async () => {
    batch = await client.messages.batches.retrieve(id)
    return batch.processing_status === 'ended'
  })
  return batch
}

async function resultsOf(client: Anthropic, { id, results_url }: Anthropic.Messages.MessageBatch) {
  // Its URL begins with that of the configuration.
  assert.equal(results_url, `${service.baseUrl}/v1/messages/batches/${id}/results`)
  const { text } = await service.call(`/v1/messages/batches/${id}/results`, String(client.apiKey), undefined)
  return text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

describe("Anthropic's message batches", () => {
  it('have a reply for every request, each charged once', async () => {
    const { accountId, key } = await service.customer()
    const client = clientOf(key)
    const begun = await client.messages.batches.create({ requests: [requestOf('a'), requestOf('b')] })
    assert.deepEqual([begun.type, begun.processing_status, begun.results_url], ['message_batch', 'in_progress', null])
    const batch = await ended(client, begun.id)
    assert.deepEqual(batch.request_counts, { processing: 0, succeeded: 2, errored: 0, canceled: 0, expired: 0 })
    const results = await resultsOf(client, batch)
    assert.deepEqual(
      results.map((line) => [
        at(line, 'custom_id'),
        at(line, 'result', 'type'),
        at(line, 'result', 'message', 'content', 0, 'text'),
      ]),
      ['a', 'b'].map((name) => [name, 'succeeded', 'Hello there.']),
    )
    assert.equal((await service.books(accountId)).rows.length, 2)
    assert.deepEqual(await client.messages.batches.delete(begun.id), { id: begun.id, type: 'message_batch_deleted' })
    await assert.rejects(client.messages.batches.retrieve(begun.id), Anthropic.NotFoundError)
  })

  it('make what has begun when they are canceled, and name what failed', async () => {
    const { accountId, key } = await service.customer({ tokensPerMinute: 1000 })
    const client = clientOf(key)
    const gate = createGate()
    vendor.set({ gate: gate.pass })
    const begun = await client.messages.batches.create({ requests: [requestOf('a'), requestOf('b')] })
    await until(async () => (await service.books(accountId)).holds === 1)
    assert.equal((await client.messages.batches.cancel(begun.id)).processing_status, 'canceling')
    await assert.rejects(client.messages.batches.delete(begun.id), Anthropic.ConflictError)
    vendor.set({})
    gate.open()
    const canceled = await ended(client, begun.id)
    assert.deepEqual(canceled.request_counts, { processing: 0, succeeded: 1, errored: 0, canceled: 1, expired: 0 })
    assert.deepEqual(await resultsOf(client, canceled).then(([, last]) => last), {
      custom_id: 'b',
      result: { type: 'canceled' },
    })
    const long = await client.messages.batches.create({ requests: [requestOf('long', { max_tokens: 2000 })] })
    const [error] = await resultsOf(client, await ended(client, long.id))
    assert.deepEqual(
      [at(error, 'result', 'type'), at(error, 'result', 'error', 'error', 'type')],
      ['errored', 'invalid_request_error'],
    )
  })

  it('are listed, a page at a time in both directions, and for their account only', async () => {
    const { key } = await service.customer()
    const client = clientOf(key)
    const ids: string[] = []
    for (const name of ['a', 'b', 'c'])
      ids.unshift((await client.messages.batches.create({ requests: [requestOf(name)] })).id)
    const all: string[] = []
    for await (const { id } of client.messages.batches.list({ limit: 2 })) all.push(id)
    assert.deepEqual(all, ids)
    const before = await client.messages.batches.list({ limit: 1, before_id: ids[2] ?? '' })
    assert.deepEqual([before.data.map(({ id }) => id), before.has_more], [[ids[1]], true])
    const stranger = clientOf((await service.customer()).key)
    assert.deepEqual((await stranger.messages.batches.list()).data, [])
    for (const id of ids) await assert.rejects(stranger.messages.batches.retrieve(id), Anthropic.NotFoundError)
    await assert.rejects(stranger.messages.batches.delete(ids[0] ?? ''), Anthropic.NotFoundError)
    for (const id of ids) await ended(client, id)
  })

  const faults: readonly (readonly [fault: string, body: unknown, status: number, reason: RegExp])[] = [
    ['no list', {}, 400, /requests is missing/],
    ['no requests', { requests: [] }, 400, /no requests/],
    ['another field', { requests: [requestOf('a')], model: 'fast' }, 400, /only the field requests/],
    ['no JSON', '{"requests":[', 400, /not valid JSON/],
    ['a request that is no object', { requests: [requestOf('a'), 1] }, 400, /Request 2: .*JSON object/],
    [
      'two equal custom ids',
      { requests: [requestOf('a'), requestOf('a')] },
      400,
      /Request 2: Request 1 has the same custom_id/,
    ],
    ['an invalid custom id', { requests: [requestOf('a b')] }, 400, /Request 1: .*custom_id/],
    ['an unknown model', { requests: [requestOf('a', { model: 'fsat' })] }, 404, /Request 1: .*mean fast/],
    ['an unknown field of a request', { requests: [{ ...requestOf('a'), url: '/v1/messages' }] }, 400, /Request 1: /],
    ['a stream', { requests: [requestOf('a', { stream: true })] }, 400, /Request 1: .*stream/],
    [
      'more requests than a batch may have',
      { requests: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => requestOf(name)) },
      413,
      /Request 6: .*at most 5/,
    ],
  ]
  for (const [fault, body, status, reason] of faults) {
    it(`with ${fault} are refused, and nothing is queued`, async () => {
      const { accountId, key } = await service.customer()
      const answer = await service.call('/v1/messages/batches', key, body)
      assert.equal(answer.status, status, answer.text)
      assert.match(String(at(answer.json, 'error', 'message')), reason)
      assert.deepEqual(await service.database.rows('select from batch where account_id = $1', [accountId]), [])
    })
  }
})
