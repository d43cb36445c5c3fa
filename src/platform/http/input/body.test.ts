import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { assertRefusal, exchange, post, startServer } from '../../../../tests/support/echo-server.ts'
import { at, parseObject } from '../../../../tests/support/json.ts'
import { fixture } from '../../../../tests/support/fixture.ts'
import { openWire } from '../../../../tests/support/wire.ts'

describe('the body of a request', () => {
  const started = fixture(() => startServer())
  after(() => started.server.close())

  const malformed: readonly (readonly [string, string | Buffer])[] = [
    ['an empty body', ''],
    ['a truncated body', '{"text": "a'],
    ['an array', '[{"text":"a"}]'],
    ['a string', '"text"'],
    ['null', 'null'],
    ['invalid UTF-8', Buffer.from('{"text":"\xff\xfe"}', 'latin1')],
    ['UTF-16', Buffer.from('{"text":"a"}', 'utf16le')],
    ['trailing rubbish', '{"text":"a"} x'],
  ]
  for (const [name, body] of malformed) {
    it(`A2 refuses ${name} as malformed_json and keeps the connection`, async () => {
      const served = started.served.length
      const wire = await openWire(started.port)
      wire.send(post(body))
      assertRefusal(await wire.answer(), 'malformed_json')
      assert.equal(started.served.length, served)
      wire.send(post('{"text":"still here"}'))
      assert.equal((await wire.answer()).status, 200)
      wire.cut()
    })
  }

  it('A2 names a byte order mark', async () => {
    const { reason } = assertRefusal(await exchange(started.port, post('\u{feff}{"text":"a"}')), 'malformed_json')
    assert.equal(reason, 'The body begins with a byte order mark: send it without one.')
  })

  it('A2 refuses a body that is nested very deeply as malformed_json, and says so', async () => {
    const { server, port } = await startServer({ requestBytes: 64 * 1024 })
    const deep = `{"text":${'['.repeat(20_000)}`
    const { reason } = assertRefusal(await exchange(port, post(deep)), 'malformed_json')
    assert.match(String(reason), /more than 256 levels/)
    const text = '[{'.repeat(20_000)
    assert.equal((await exchange(port, post(JSON.stringify({ text })))).status, 200)
    await server.close()
  })

  it('A2 refuses a body with very many field names before parsing it, as a schema would', async () => {
    const { server, port } = await startServer({ requestBytes: 1024 * 1024 })
    const names = Array.from({ length: 10_100 }, (_, index) => `"<b>${index}":1`).join()
    const own = assertRefusal(await exchange(port, post(`{"text":"a",${names}`)), 'unknown_field')
    assert.match(String(own['field']), /^\?b\?\d{4,5}$/)
    assert.match(String(own['reason']), /more than 10000 different field names/)
    const inner = assertRefusal(await exchange(port, post(`{"text":{${names}}}`)), 'invalid_field')
    assert.equal(inner['field'], 'text')
    await server.close()
  })

  it('A2 refuses a POST with neither body nor content type as malformed_json', async () => {
    assertRefusal(await exchange(started.port, 'POST /v1/echo HTTP/1.1\r\nhost: x\r\n\r\n'), 'malformed_json')
  })

  for (const type of [
    '',
    'content-type: text/plain\r\n',
    'content-type: application/jsonx\r\n',
    'content-type: ;\r\n',
  ]) {
    it(`A2 refuses a body with "${type.trim()}" as unsupported_media_type`, async () => {
      assertRefusal(await exchange(started.port, post('{"text":"a"}', type)), 'unsupported_media_type')
    })
  }

  it('A2 refuses a content coding as unsupported_media_type, and names it as the reason', async () => {
    const served = started.served.length
    for (const coding of ['gzip', 'br', 'x-mine', 'identity, gzip']) {
      const headers = `content-type: application/json\r\ncontent-encoding: ${coding}\r\n`
      for (const body of [gzipSync('{"text":"a"}'), '{"text":"a"}']) {
        const answer = await exchange(started.port, post(body, headers))
        assert.match(String(assertRefusal(answer, 'unsupported_media_type')['reason']), /Content-Encoding/)
        assert.equal(answer.headers['accept-encoding'], 'identity')
      }
    }
    assert.equal(started.served.length, served)
  })

  it('accepts the content coding identity', async () => {
    const headers = 'content-type: application/json\r\ncontent-encoding: Identity\r\n'
    assert.equal((await exchange(started.port, post('{"text":"a"}', headers))).status, 200)
  })

  it('A2 does not report null as an empty body', async () => {
    const { reason } = assertRefusal(await exchange(started.port, post('null')), 'malformed_json')
    assert.match(String(reason), /not an object/)
  })

  it('accepts JSON with a charset', async () => {
    const answer = await exchange(
      started.port,
      post('{"text":"a"}', 'content-type: Application/JSON; charset=UTF-8\r\n'),
    )
    assert.equal(answer.status, 200)
  })

  it('A2 refuses 2 MiB before parsing, even for a sender that sends everything first', async () => {
    const wire = await openWire(started.port)
    wire.send(post(JSON.stringify({ text: 'x'.repeat(2 * 1024 * 1024) })))
    assertRefusal(await wire.answer(), 'request_too_large')
    wire.send(post('{"text":"still here"}'))
    assert.equal((await wire.answer()).status, 200)
    wire.cut()
  })

  it('A2 refuses a chunked body of unknown length once it is too large', async () => {
    const wire = await openWire(started.port)
    wire.send(
      'POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const chunk = `400\r\n${'x'.repeat(1024)}\r\n`
    for (let i = 0; i < 200; i++) wire.send(chunk)
    assertRefusal(await wire.answer(), 'request_too_large')
    wire.send(`${chunk}0\r\n\r\n`)
    wire.send(post('{"text":"still here"}'))
    assert.equal((await wire.answer()).status, 200)
    wire.cut()
  })

  it('A2 ends a connection that keeps sending a refused body', async () => {
    const wire = await openWire(started.port)
    wire.send(
      'POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const chunk = `100000\r\n${'x'.repeat(1024 * 1024)}\r\n`
    for (let i = 0; i < 80; i++) wire.send(chunk)
    const open = new Promise((resolve) => setTimeout(resolve, 60_000, 'still open').unref())
    assert.equal(await Promise.race([wire.closed, open]), undefined)
    wire.cut()
  })

  it('accepts a body of exactly the limit', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(1024 - 11) })
    assert.equal(body.length, 1024)
    assert.equal((await exchange(started.port, post(body))).status, 200)
    assertRefusal(await exchange(started.port, post(`${body} `)), 'request_too_large')
  })

  it('A2 responds to a body that ends before its length', async () => {
    const served = started.served.length
    const wire = await openWire(started.port)
    wire.send('POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{"te')
    wire.endSending()
    assertRefusal(await wire.answer(), 'malformed_request')
    assert.equal(started.served.length, served)
  })

  it('hashes the body only for a request with an Idempotency-Key', async () => {
    const withKey = 'content-type: application/json\r\nidempotency-key: k\r\n'
    const answers = [await exchange(started.port, post('{"text":"a"}'))]
    for (const body of ['{"text":"a"}', '{"text":"a"}', '{"text": "a"}']) {
      answers.push(await exchange(started.port, post(body, withKey)))
    }
    const [without, first, same, other] = answers.map(({ body }) => at(parseObject(body), 'hash'))
    assert.equal(without, undefined)
    assert.match(String(first), /^[0-9a-f]{64}$/)
    assert.equal(same, first)
    assert.notEqual(other, first)
  })
})
