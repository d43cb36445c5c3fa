import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { assertRefusal, exchange, get, post, startServer, uuidv7 } from '../../../tests/support/echo-server.ts'
import { parseObject } from '../../../tests/support/json.ts'
import { fixture } from '../../../tests/support/fixture.ts'
import { until } from '../../../tests/support/until.ts'
import { openWire } from '../../../tests/support/wire.ts'

const chunks = (coding: string) =>
  `POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${coding}\r\n\r\n` +
  'c\r\n{"text":"a"}\r\n0\r\n\r\n'

describe('the HTTP server', () => {
  const started = fixture(() => startServer())
  after(() => started.server.close())

  it('gives every response its own id and the security headers', async () => {
    const wire = await openWire(started.port)
    wire.send(post('{"text":"a"}'))
    const first = await wire.answer()
    wire.send(post('{"text":"b"}'))
    const second = await wire.answer()
    wire.cut()
    assert.equal(first.status, 200)
    assert.match(String(first.headers['request-id']), uuidv7)
    assert.notEqual(first.headers['request-id'], second.headers['request-id'])
    assert.equal(first.headers['cache-control'], 'no-store')
    assert.equal(first.headers['x-content-type-options'], 'nosniff')
    assert.equal(first.headers['content-type'], 'application/json; charset=utf-8')
  })

  it('ignores a request id from the caller', async () => {
    const answer = await exchange(started.port, `GET /healthz HTTP/1.1\r\nhost: x\r\nrequest-id: mine\r\n\r\n`)
    assert.match(String(answer.headers['request-id']), uuidv7)
  })

  it('sends 404 for a URL without a route, and 405 with Allow for another method', async () => {
    assertRefusal(await exchange(started.port, get('/nowhere')), 'not_found')
    assertRefusal(await exchange(started.port, get('/v1/echo/')), 'not_found')
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const answer = await exchange(
        started.port,
        `${method} /v1/echo?a=b HTTP/1.1\r\nhost: x\r\norigin: https://evil\r\n\r\n`,
      )
      assertRefusal(answer, 'method_not_allowed')
      assert.equal(answer.headers['allow'], 'POST')
    }
    const answer = await exchange(started.port, 'POST /v1/slow/7 HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n')
    assert.equal(answer.headers['allow'], 'GET, HEAD')
  })

  it('sends 405 and 404 without reading the body', async () => {
    const rubbish = 'content-type: application/json\r\ncontent-length: 3\r\n\r\n{{{'
    assertRefusal(await exchange(started.port, `PUT /v1/echo HTTP/1.1\r\nhost: x\r\n${rubbish}`), 'method_not_allowed')
    assertRefusal(await exchange(started.port, `POST /nowhere HTTP/1.1\r\nhost: x\r\n${rubbish}`), 'not_found')
  })

  it('refuses invalid HTTP, oversized headers, missing or duplicate Host, and invalid URLs in the same format', async () => {
    assertRefusal(await exchange(started.port, 'RUBBISH\r\n\r\n'), 'malformed_request')
    assertRefusal(await exchange(started.port, 'GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n'), 'malformed_request')
    assertRefusal(
      await exchange(started.port, `GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n\r\n`),
      'headers_too_large',
    )
    assertRefusal(await exchange(started.port, 'GET /healthz HTTP/1.1\r\n\r\n'), 'malformed_request')
    // With two, a proxy and the server could each use a different one (RFC 9112, section 3.2).
    for (const version of ['1.0', '1.1']) {
      const twice = `GET /healthz HTTP/${version}\r\nhost: x\r\nHost: y\r\n\r\n`
      assertRefusal(await exchange(started.port, twice), 'malformed_request')
    }
    assertRefusal(await exchange(started.port, get('/%ff')), 'not_found')
    assert.equal((await exchange(started.port, 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: rain\r\n\r\n')).status, 200)
  })

  it('refuses unsupported transfer codings, and accepts chunked', async () => {
    for (const coding of ['chunked', 'Chunked', '  chunked ']) {
      assert.equal((await exchange(started.port, chunks(`transfer-encoding: ${coding}`))).status, 200, coding)
    }
    started.served.length = 0
    for (const coding of ['gzip, chunked', 'identity, chunked', 'gzip\r\ntransfer-encoding: chunked', 'gzip', 'x']) {
      assertRefusal(await exchange(started.port, chunks(`transfer-encoding: ${coding}`)), 'malformed_request')
    }
    assert.deepEqual(started.served, [])
    const wire = await openWire(started.port)
    wire.send(chunks('transfer-encoding: gzip, chunked'))
    wire.send(post('{"text":"next"}'))
    assertRefusal(await wire.answer(), 'malformed_request')
    assert.match((await wire.answer()).body, /next/)
    wire.cut()
  })

  it('refuses CONNECT and closes the connection', async () => {
    for (const head of [
      'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n',
      'CONNECT /healthz HTTP/1.1\r\nhost: x\r\n',
    ]) {
      const wire = await openWire(started.port)
      wire.send(`${head}\r\n\u0016\u0003\u0001`)
      const answer = await wire.answer()
      assertRefusal(answer, 'method_not_allowed')
      assert.deepEqual([answer.headers['allow'], answer.headers['connection']], ['', 'close'])
      await wire.closed
    }
  })

  it('hides the cause of an internal error, and logs it with its stack', async () => {
    const answer = await exchange(started.port, get('/fails'))
    const error = assertRefusal(answer, 'internal')
    assert.doesNotMatch(answer.body, /must not leave/)
    const line = started.lines.find((each) => each.includes(String(error['request_id'])) && each.includes('stack'))
    assert.match(String(line), /TypeError/)
  })

  it('states when to retry, which limit was reached, and how to authenticate', async () => {
    const answer = await exchange(started.port, get('/refuses'))
    const error = assertRefusal(answer, 'rate_limit_exceeded')
    assert.equal(answer.headers['retry-after'], '7')
    assert.equal(answer.headers['x-should-retry'], 'true')
    assert.deepEqual(error['limit'], { name: 'requests_per_minute', value: 60, remaining: 0 })
    const key = await exchange(started.port, get('/refuses/key'))
    assertRefusal(key, 'missing_key')
    assert.equal(key.headers['www-authenticate'], 'Bearer')
    assert.equal(key.headers['x-should-retry'], 'false')
    assert.equal(key.headers['retry-after'], undefined)
  })

  it('A9 logs one line per request, without URL, query, headers or body', async () => {
    const secret = 'tg_secret'
    const logged = started.lines.length
    const wire = await openWire(started.port)
    wire.send(`GET /v1/slow/${secret}?key=${secret} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\n\r\n`)
    const id = (await wire.answer()).headers['request-id']
    wire.send(post(`{"text":"${secret}"}`))
    await wire.answer()
    wire.cut()
    await until(() => started.lines.length >= logged + 2)
    const lines = started.lines.slice(logged)
    assert.equal(lines.length, 2)
    assert.doesNotMatch(lines.join(''), new RegExp(secret))
    const line = parseObject(String(lines[0]))
    assert.deepEqual(
      [line['request_id'], line['method'], line['route'], line['status']],
      [id, 'GET', '/v1/slow/:id', 200],
    )
  })
})
