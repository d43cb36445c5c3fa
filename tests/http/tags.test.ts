import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createLedger } from '../../src/billing/reports/ledger.ts'
import { parseMoney } from '../../src/billing/prices/money.ts'
import { objectAt, type Json } from '../support/json.ts'
import { until } from '../support/until.ts'
import { openVendorService } from '../support/vendor-service.ts'

const { service } = openVendorService()

const messages = [{ role: 'user', content: 'Hello' }]
const bodies = {
  '/v1/generate': { model: 'fast', input: 'Hello', max_output_tokens: 100 },
  '/v1/chat/completions': { model: 'fast', messages },
  '/v1/responses': { model: 'fast', input: 'Hello' },
  '/v1/messages': { model: 'fast', messages, max_tokens: 100 },
} as const

async function send(
  key: string,
  metadata: object | undefined,
  address: keyof typeof bodies = '/v1/generate',
  more = {},
) {
  const answer = await service.call(address, key, { ...bodies[address], metadata, ...more })
  assert.equal(answer.status, 200, answer.text)
  return String(answer.headers.get('request-id'))
}

async function tagsOf(requestId: string) {
  const [row] = await createLedger({ database: service.database }).page({ requestId, limit: 1 })
  return row?.tags
}

/** Enough for an allowance. */
const steady = { credit: 10n ** 15n, requestsPerMinute: 100_000, tokensPerMinute: 100_000_000 }

describe('the tags of a request', () => {
  it('are in the ledger, whichever API, whole or streamed', async () => {
    const { key } = await service.customer()
    for (const address of ['/v1/generate', '/v1/chat/completions', '/v1/responses', '/v1/messages'] as const) {
      for (const stream of [false, true]) {
        const tags = { project: 'Apollo', 'a \',"\\{}': 'ünï "x" \\ , {} null' }
        assert.deepEqual(await tagsOf(await send(key, tags, address, { stream })), tags, address)
      }
    }
  })

  it('are in the ledger of requests that an allowance admitted, with and without tags in one batch', async () => {
    const { key, accountId } = await service.customer(steady)
    let taken = 0
    for (let round = 0; round < 40 && taken < 10; round++) {
      const wanted = Array.from({ length: 4 }, (_, index) =>
        index % 2 === 0 ? { step: `${round}-${index}` } : undefined,
      )
      const [known] = await service.database.rows<{ has: boolean }>(
        'select exists (select from allowance where account_id = $1) as has',
        [accountId],
      )
      const ids = await Promise.all(wanted.map((tags) => send(key, tags)))
      if (known?.has) taken += ids.length
      assert.deepEqual(
        await Promise.all(ids.map(tagsOf)),
        wanted.map((tags) => tags ?? null),
      )
    }
    assert.ok(taken >= 10, 'the account never had an allowance')
  })

  it('lack the ids of clients and end users, and values too long to group by', async () => {
    const { key } = await service.customer({ own: true })
    const client = await service.client()
    const long = await send(key, { client_id: client, short: 'x'.repeat(128), long: 'x'.repeat(129) })
    assert.deepEqual(await tagsOf(long), { short: 'x'.repeat(128) })
    assert.equal(await tagsOf(await send(key, { client_id: client })), null)
    const messagesId = await send(key, { user_id: 'anna', client_id: client, team: 'red' }, '/v1/messages')
    assert.deepEqual(await tagsOf(messagesId), { team: 'red' })
  })

  it('are bounded in every API', async () => {
    const { key, accountId } = await service.customer()
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`n${index}`, 'x']))
    for (const [address, body] of Object.entries(bodies)) {
      for (const metadata of [
        many,
        { ['n'.repeat(65)]: 'x' },
        { team: 'x'.repeat(513) },
        { team: 5 },
        { team: 'a\0b' },
      ]) {
        const answer = await service.call(address, key, { ...body, metadata })
        assert.equal(answer.status, 400, `${address}: ${answer.text}`)
        assert.match(answer.text, /metadata/)
      }
    }
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows, holds], [[], 0])
  })

  it('are not in the log', async () => {
    const { key } = await service.customer()
    await send(key, { secretName: 'secretValue' })
    assert.doesNotMatch(service.logText(), /secretName|secretValue/)
  })

  it('are kept once for a reply that is sent again', async () => {
    const { key } = await service.customer()
    const body = { ...bodies['/v1/generate'], metadata: { job: 'nightly' } }
    for (let sent = 0; sent < 3; sent++) await service.call('/v1/generate', key, body, { 'idempotency-key': 'once' })
    const { json } = await service.call('/v1/usage?by=tag&tag=job', key)
    assert.deepEqual(figuresIn(json), [['nightly', 1]])
  })
})

const rowsIn = (json: Json): Json[] => {
  const { rows } = json
  assert.ok(Array.isArray(rows))
  return rows.map((_, index) => objectAt(json, 'rows', index))
}
const figuresIn = (json: Json) =>
  rowsIn(json).map((row) => [row['tag'] === null ? null : objectAt(row, 'tag')['value'], row['requests']])

describe('GET /v1/usage by tag', () => {
  it('sums the requests of each value and those without it to the total, on each day or in all', async () => {
    const { key } = await service.customer()
    const stranger = await service.customer()
    await send(stranger.key, { project: 'Apollo' })
    for (const project of ['Apollo', 'Apollo', 'Gemini']) await send(key, { project, team: 'red' })
    await send(key, { team: 'blue' })
    await send(key, undefined)
    assert.equal((await service.call('/v1/generate', key, { model: 'fast' })).status, 400)
    await until(async () => objectAt((await service.call('/v1/usage', key)).json, 'total')['refused'] === 1)
    for (const by of ['tag', 'day,tag', 'tag,day']) {
      const { json } = await service.call(`/v1/usage?by=${by}&tag=project`, key)
      const found = figuresIn(json).toSorted((a, b) => String(a[0]).localeCompare(String(b[0])))
      assert.deepEqual(
        found,
        [
          ['Apollo', 2],
          ['Gemini', 1],
          [null, 2],
        ],
        by,
      )
      const refused = rowsIn(json).filter((row) => row['refused'] !== 0)
      assert.deepEqual(
        refused.map((row) => [row['tag'], row['refused']]),
        [[null, 1]],
        by,
      )
      const sum = rowsIn(json).reduce((total, row) => total + parseMoney(String(row['cost'])), 0n)
      assert.equal(sum, parseMoney(String(objectAt(json, 'total')['cost'])))
      assert.ok(rowsIn(json).every((row) => 'day' in row === (by !== 'tag')))
    }
    const { json } = await service.call('/v1/usage?by=tag', key)
    const named = rowsIn(json).map((row) => [row['tag'], row['requests']])
    assert.equal(named.length, 5)
    for (const [name, value, requests] of [
      ['project', 'Apollo', 2],
      ['project', 'Gemini', 1],
      ['team', 'red', 3],
      ['team', 'blue', 1],
    ]) {
      assert.ok(
        named.some(([tag, count]) => count === requests && JSON.stringify(tag) === JSON.stringify({ name, value })),
      )
    }
    assert.ok(named.some(([tag, count]) => tag === null && count === 1))
  })

  it('has no rows for an account that used nothing, and refuses what it cannot group', async () => {
    const { key } = await service.customer()
    assert.deepEqual((await service.call('/v1/usage?by=tag&tag=x', key)).json['rows'], [])
    for (const [query, field] of [
      ['?tag=project', 'tag'],
      ['?by=model&tag=project', 'tag'],
      ['?by=tag,model&tag=project', 'by'],
      [`?by=tag&tag=${'x'.repeat(65)}`, 'tag'],
    ] as const) {
      const { status, error } = await service.call(`/v1/usage${query}`, key)
      assert.deepEqual([status, error['code'], error['field']], [400, 'invalid_field', field], query)
    }
  })
})
