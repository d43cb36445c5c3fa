import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { byService } from '../../src/access/actor.ts'
import { problems, type ProblemCode } from '../../src/platform/problems.ts'
import type { Answer } from '../support/answer.ts'
import { fixture } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'
import { until } from '../support/until.ts'
import { openWire } from '../support/wire.ts'

const valid = { model: 'fast', instructions: 'instructions-text', input: 'input-text', max_output_tokens: 10 }

const vendor = fixture(() => startVendor({ text: 'output-text' }))
const service = fixture(() => startService({ models: [upstreamModel(vendor.url)], metricsToken: 'metrics-token' }))
const customer = fixture(() => service.customer())

const generate = (headers: Readonly<Record<string, string>>) => service.call('/v1/generate', undefined, valid, headers)

function assertCode(answer: Answer, code: ProblemCode): void {
  assert.deepEqual([answer.error['code'], answer.status], [code, problems[code].status], answer.text)
  assert.equal(answer.headers.get('www-authenticate'), answer.status === 401 ? 'Bearer' : null)
  assert.equal(answer.headers.get('x-should-retry'), 'false')
  assert.equal(answer.headers.get('x-ratelimit-limit-requests'), null)
}

/** The key with its character at `index` changed. */
function changed(key: string, index: number): string {
  return key.slice(0, index) + (key[index] === 'a' ? 'b' : 'a') + key.slice(index + 1)
}

describe('a key', () => {
  it('A7 that is missing, empty or sent with another scheme is missing_key', async () => {
    const headers = [{}, { authorization: '' }, { authorization: 'Bearer' }, { authorization: 'Bearer ' }]
    const others = [{ authorization: `Basic ${btoa(`x:${customer.key}`)}` }, { authorization: customer.key }]
    for (const each of [...headers, ...others]) assertCode(await generate(each), 'missing_key')
    assertCode(await generate({ 'x-api-key': customer.key }), 'missing_key')
  })

  it('A7 with one changed character in any position is invalid_key', async () => {
    for (const index of [0, 2, 3, 14, 16, 30, 58, 60, 65]) {
      assertCode(await generate({ authorization: `Bearer ${changed(customer.key, index)}` }), 'invalid_key')
    }
    assertCode(await generate({ authorization: `Bearer ${customer.key}x` }), 'invalid_key')
    assertCode(await generate({ authorization: `Bearer ${customer.key.slice(0, -1)}` }), 'invalid_key')
  })

  it('A7 is checked before the body is read', async () => {
    const wire = await openWire(service.port)
    wire.send(
      'POST /v1/generate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{',
    )
    assert.equal((await wire.answer()).status, 401)
    wire.cut()
  })

  it('is checked again after the body has been read', async () => {
    const { key, keyId } = await service.customer()
    const { calls } = vendor
    const body = JSON.stringify(valid)
    const wire = await openWire(service.port)
    wire.send(
      `POST /v1/generate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body.slice(0, 1)}`,
    )
    await until(() => service.app.requestsInFlight() > 0)
    await service.keys.revoke(keyId, byService)
    await sleep(1000)
    wire.send(body.slice(1))
    const answer = await wire.answer()
    wire.cut()
    assert.deepEqual([answer.status, vendor.calls], [401, calls])
    assert.match(answer.body, /"code":"revoked_key"/)
  })
})

describe('a call from a browser', () => {
  for (const headers of [
    { origin: 'https://example.com' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'cors' },
  ]) {
    it(`A8 with ${JSON.stringify(headers)} is key_in_browser, before the key is checked`, async () => {
      const calls = vendor.calls
      for (const key of [customer.key, 'nonsense', undefined]) {
        const wire = await openWire(service.port)
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
        wire.send(
          `POST /v1/generate HTTP/1.1\r\nhost: x\r\n${lines.join('')}${key ? `authorization: Bearer ${key}\r\n` : ''}` +
            `content-type: application/json\r\ncontent-length: ${JSON.stringify(valid).length}\r\n\r\n${JSON.stringify(valid)}`,
        )
        const answer = await wire.answer()
        wire.cut()
        assert.equal(answer.status, 403)
        assert.match(answer.body, /"code":"key_in_browser"/)
        assertNoCors(Object.keys(answer.headers))
      }
      assert.equal(vendor.calls, calls)
      assert.equal((await service.books(customer.accountId)).holds, 0)
    })
  }

  it("A8 is not assumed for Node's fetch, which sends only Sec-Fetch-Mode", async () => {
    assert.equal((await service.call('/v1/generate', customer.key, valid, { 'sec-fetch-mode': 'cors' })).status, 200)
  })

  it('A8 gets no Access-Control header, not even for a preflight request', async () => {
    const preflight = await fetch(`${service.url}/v1/generate`, { method: 'OPTIONS' })
    assert.equal(preflight.status, 405)
    assertNoCors([...preflight.headers.keys()])
    assertNoCors([...(await service.call('/v1/generate', customer.key, valid)).headers.keys()])
    assertNoCors([...(await service.call('/v1/models', customer.key)).headers.keys()])
  })
})

function assertNoCors(names: readonly string[]): void {
  assert.deepEqual(
    names.filter((name) => name.startsWith('access-control')),
    [],
  )
}

describe('a key and the texts of a request', () => {
  it('A9 appear in no log, error, metric or table', async () => {
    const { key } = await service.customer()
    const [, publicId = '', secret = ''] = key.split('_')
    const answers = [
      await service.call('/v1/generate', key, valid),
      await service.call('/v1/generate', changed(key, 30), valid),
      await service.call('/v1/generate', key, { ...valid, [key]: 1 }),
      await service.call('/v1/generate', key, { ...valid, max_output_tokens: key }),
      await service.call(`/v1/${key}`, key, valid),
      await service.call('/metrics', 'metrics-token'),
    ]
    for (const fault of ['wrong_key', 'cut_json', 'server_error'] as const) {
      vendor.set({ fault, text: 'output-text' })
      answers.push(await service.call('/v1/generate', key, valid))
    }
    vendor.set({ text: 'output-text' })

    const dump = await service.database.rows<{ text: string }>(
      `select k::text as text from api_key k union all select l::text from ledger l union all select h::text from hold h`,
    )
    const tables = dump.map(({ text }) => text).join('\n')
    assert.ok(tables.includes(publicId))
    const log = service.logText()
    assert.ok(log.includes('"status":502'))
    assert.doesNotMatch(tables, new RegExp(secret))
    assert.doesNotMatch(log, new RegExp(secret))
    assert.doesNotMatch(log, /Bearer|metrics-token|(input|output|instructions)-text/)
    assert.doesNotMatch(tables, /(input|output|instructions)-text/)
    const errors = answers.slice(1).map(({ text }) => text)
    assert.doesNotMatch(errors.join('\n'), new RegExp(`${secret.slice(0, 8)}|(input|instructions)-text`))
  })
})
