import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { objectAt, parseObject } from '../support/json.ts'
import { until } from '../support/until.ts'
import { openVendorService } from '../support/vendor-service.ts'

const { vendor, service } = openVendorService()

const valid = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

/** The counted refusals of an account: code and model → requests. Waits until there are `total`. */
async function counted(accountId: string, total: number): Promise<Record<string, number>> {
  const read = () =>
    service.database.rows<{ code: string; model: string | null; requests: bigint }>(
      'select code, model, requests from refusal_day where account_id = $1 order by code, model',
      [accountId],
    )
  await until(async () => (await read()).reduce((sum, { requests }) => sum + Number(requests), 0) >= total)
  return Object.fromEntries((await read()).map(({ code, model, requests }) => [`${code} ${model}`, Number(requests)]))
}

describe('requests that are refused or fail', () => {
  it('are counted exactly, by code and by the model that they name, and never reach the ledger', async () => {
    const { accountId, key, keyId } = await service.customer()
    const send = async (body: object | string, status: number, times = 1) => {
      const sent = Array.from({ length: times }, () => service.call('/v1/generate', key, body))
      for (const answer of await Promise.all(sent)) assert.equal(answer.status, status, answer.text)
    }
    await send({ ...valid, max_output_tokens: 0 }, 400, 7)
    await send('{', 400, 2)
    await send({ ...valid, model: '=cmd()' }, 404, 3)
    vendor.set({ fault: 'server_error' })
    await send(valid, 502)
    vendor.set({ fault: 'busy' })
    await send({ ...valid, stream: true }, 503)
    vendor.set({})
    await send(valid, 200)
    assert.deepEqual(await counted(accountId, 14), {
      'invalid_field fast': 7,
      'malformed_json null': 2,
      'overloaded fast': 1,
      'unknown_model null': 3,
      'upstream_failed fast': 1,
    })
    assert.equal((await service.books(accountId)).rows.length, 1)
    const kept = await service.database.rows<{ key: string; status: number; young: boolean; ms: number }>(
      `select key_id as key, status, at between now() - interval '1 minute' and now() as young, milliseconds as ms
       from refused_request where account_id = $1`,
      [accountId],
    )
    assert.ok(kept.length > 0 && kept.length <= 14)
    for (const { key: by, status, young, ms } of kept) {
      assert.ok(by === keyId && status >= 400 && young && ms >= 0, JSON.stringify({ by, status, young, ms }))
    }
  })

  it('A46: say by their id what was called and why it was refused, to the keys of their account and in the log', async () => {
    const { key } = await service.customer()
    const other = await service.customer()
    const message = { role: 'user', content: 'secret words' }
    for (const [route, body, field, reason, dialect, streamed] of [
      ['/v1/chat/completions', { messages: [message], stream: true, n: 2 }, 'n', /the field n\./, 'openai', true],
      ['/v1/messages', { messages: [message], max_tokens: 0 }, 'max_tokens', /max_tokens/, 'anthropic', false],
      ['/v1/generate', { ...valid, metadata: { 'Jane Doe': 1 } }, null, /^null$/, 'tollgate', false],
      ['/v1/generate', { ...valid, metadata: { Jane: 1 } }, null, /^null$/, 'tollgate', false],
    ] as const) {
      const answer = await service.call(route, key, { model: 'fast', ...body }, { 'user-agent': 'tool/1.0 ü' })
      assert.equal(answer.status, 400, answer.text)
      const id = String(answer.headers.get('request-id'))
      await until(async () => (await service.call(`/v1/requests/${id}`, key)).status === 200)
      const { json, text } = await service.call(`/v1/requests/${id}`, key)
      const { reason: said, ...call } = objectAt(json['call'])
      const expected = { field, route, dialect, user_agent: 'tool/1.0 ?', streamed }
      assert.deepEqual(call, expected)
      assert.match(String(said), reason)
      assert.equal((await service.call(`/v1/requests/${id}`, other.key)).status, 404)
      const line =
        service
          .logText()
          .split('\n')
          .find((each) => each.includes(id)) ?? assert.fail()
      assert.partialDeepStrictEqual(parseObject(line), { code: answer.error['code'] ?? 'invalid_field', ...expected })
      assert.doesNotMatch(text + line, /secret|Jane/)
    }
  })

  it('for lack of credit, of pace and of a permission are counted, and a refused credit is no request', async () => {
    const poor = await service.customer({ credit: 1n })
    assert.equal((await service.call('/v1/generate', poor.key, valid)).status, 402)
    assert.deepEqual(await counted(poor.accountId, 1), { 'insufficient_credit fast': 1 })
    const slow = await service.customer({ requestsPerMinute: 1 })
    const statuses = await Promise.all([1, 2, 3].map(() => service.call('/v1/generate', slow.key, valid)))
    const refused = statuses.filter(({ status }) => status === 429).length
    assert.ok(refused >= 1)
    assert.deepEqual(await counted(slow.accountId, refused), { 'rate_limit_exceeded fast': refused })
    const bound = await service.customer({}, { allowedModels: ['other'] })
    assert.equal((await service.call('/v1/generate', bound.key, valid)).status, 403)
    assert.deepEqual(await counted(bound.accountId, 1), { 'model_not_allowed fast': 1 })
  })

  it('are not counted for a replay, a wrong key or a call from a browser', async () => {
    const { accountId, key } = await service.customer()
    const same = { 'idempotency-key': 'one' }
    for (let time = 0; time < 3; time++) {
      assert.equal((await service.call('/v1/generate', key, valid, same)).status, 200)
    }
    const wrong = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x')
    assert.equal((await service.call('/v1/generate', wrong, valid)).status, 401)
    assert.equal((await service.call('/v1/generate', key, valid, { origin: 'https://a.example' })).status, 403)
    assert.equal((await service.call('/v1/generate', key, { ...valid, input: 'Other' }, same)).status, 422)
    assert.deepEqual(await counted(accountId, 1), { 'idempotency_mismatch fast': 1 })
    const usage = await service.database.rows('select requests from usage_day where account_id = $1', [accountId])
    assert.deepEqual(usage, [{ requests: 1n }])
  })
})

describe('the ledger', () => {
  it('says how long each request took, from its start to its charge', async () => {
    const { accountId, key } = await service.customer()
    const wait = 60
    vendor.set({ gate: () => new Promise((resolve) => void setTimeout(resolve, wait)) })
    // The first requests are charged by till(), those of an account in steady use by exchange_timed().
    for (let request = 0; request < 12; request++) {
      assert.equal((await service.call('/v1/generate', key, { ...valid, stream: request % 2 === 0 })).status, 200)
    }
    vendor.set({})
    const rows = await service.database.rows<{ ms: number | null }>(
      'select milliseconds as ms from ledger where account_id = $1',
      [accountId],
    )
    assert.equal(rows.length, 12)
    for (const { ms } of rows) assert.ok(ms !== null && ms >= wait - 2 && ms < 60_000, `${ms} ms`)
  })
})
