import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, afterEach, describe, it } from 'node:test'
import { isEndure } from '../support/draws.ts'
import { fixture, setUp } from '../support/fixture.ts'
import {
  answerWell,
  completion,
  delta,
  ending,
  http,
  startRawUpstream,
  streamHead,
  type Behaviour,
} from '../support/raw-upstream.ts'
import { startService, upstreamModel, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { valuesOf } from '../support/json.ts'

let service: Service
const upstream = fixture(() => startRawUpstream())
setUp(async () => {
  // For upstreams that always time out; the second must read a first text within its limit.
  service = await startService({
    models: Object.entries({
      patient: { connect: '60s', first_token: '60s', total: '60s' },
      hasty: { connect: '1s', first_token: '500ms', total: '1500ms' },
      steady: { connect: '4s', first_token: '4s', total: '4s' },
    }).map(([id, timeout]) => upstreamModel(upstream.url, { id, timeout })),
  })
})
afterEach(() => upstream.behave(answerWell))
after(() => service.close())

const megabytes = 1024 * 1024
const valid = { model: 'patient', input: 'Hello', max_output_tokens: 100 }
const whole = http(completion())

const replyAt = (index: number, content: string) => ({ index, message: { content }, finish_reason: 'stop' })
const eventOf = (choices: object[], more: object = {}) => `data: ${JSON.stringify({ choices, ...more })}\n\n`

/** Writes as fast as the other side reads, until it disconnects. A socket whose write has failed is not destroyed yet, and would keep every further write. */
function flood(socket: Socket, bytes: string | Buffer): void {
  const more = (error?: Error | null): void => {
    if (!error && !socket.destroyed) socket.write(bytes, more)
  }
  more()
}

/** Writes byte by byte. */
function drip(socket: Socket, bytes: Buffer, milliseconds: number): void {
  let at = 0
  const timer = setInterval(() => {
    if (at === bytes.length) clearInterval(timer)
    else socket.write(bytes.subarray(at, ++at))
  }, milliseconds)
  socket.once('close', () => clearInterval(timer))
}

const send =
  (...parts: readonly (string | Buffer)[]): Behaviour =>
  (socket) =>
    void socket.end(Buffer.concat(parts.map((part) => Buffer.from(part))))

/** Responses that are invalid for any request. */
const nonsense: Readonly<Record<string, readonly [Behaviour, code?: string]>> = {
  'a page of HTML': [send(http('<html><body>Bad gateway</body></html>', { type: 'text/html' }))],
  'a page of HTML with status 502': [send(http('<html>'.repeat(1000), { type: 'text/html', status: 502 }))],
  'something other than HTTP': [send('220 mail.example.com ESMTP ready\r\n')],
  'nothing at all': [send('')],
  'a truncated head': [send('HTTP/1.1 200 OK\r\ncontent-ty')],
  'a body that is shorter than its length': [send(whole.subarray(0, -9))],
  'a body with two lengths': [send('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello')],
  'a body of 20 MB': [send(http(Buffer.alloc(20 * megabytes, ' ')))],
  'a refusal of 20 MB': [send(http(Buffer.alloc(20 * megabytes, 'x'), { status: 500 }))],
  'an endless body': [(socket) => flood(socket, `${streamHead}${'x'.repeat(65_536)}`)],
  'a head of 1 MB': [send('HTTP/1.1 200 OK\r\n', 'x-more: y\r\n'.repeat(100_000), '\r\n')],
  'an endless head': [(socket) => flood(socket, `HTTP/1.1 200 OK\r\n${'x-more: yes\r\n'.repeat(1000)}`)],
  'endless 103 responses': [(socket) => flood(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'), 'upstream_timeout'],
  'status 204': [send('HTTP/1.1 204 No Content\r\n\r\n')],
  'status 304': [send('HTTP/1.1 304 Not Modified\r\n\r\n')],
  'status 999': [send(http('{}', { status: 999 }))],
  'an upgrade': [send('HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n')],
  'chunks with a wrong length': [send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n')],
  'JSON that is 100,000 deep': [send(http(`{"choices":${'['.repeat(100_000)}${']'.repeat(100_000)}}`))],
  'JSON with invalid UTF-8': [send(http(Buffer.from(completion().replace('Well', 'W\xff'), 'latin1')))],
  'compressed JSON that was not requested': [
    send(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\b\0',
    ),
  ],
  'a head that comes byte by byte': [(socket) => drip(socket, whole, 40), 'upstream_timeout'],
}

/** Whole replies that are almost valid. */
const almost: Readonly<Record<string, Buffer>> = {
  'arguments that are 100,000 deep': http(
    `{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":${'['.repeat(100_000)}` +
      `${']'.repeat(100_000)}}}}]},"finish_reason":"tool_calls"}]}`,
  ),
  'a text that is a number': http(completion().replace('"Well."', '7')),
  'no choices': http('{"choices":[]}'),
  null: http('null'),
  'an empty body': http(''),
  'two replies': http(completion() + completion()),
}

/** Streams that fail after their first text. */
const broken: Readonly<Record<string, Behaviour>> = {
  'ends without its terminal event': send(streamHead, delta('One')),
  'continues with HTML': send(streamHead, delta('One'), 'data: <html>\n\n'),
  'continues with invalid UTF-8': send(streamHead, delta('One'), Buffer.from('data: \xff\n\n', 'latin1')),
  'has an event of 10 MB': send(streamHead, delta('One'), delta('x'.repeat(10 * megabytes)), ending),
  'has an endless line of 10 MB': (socket) => {
    socket.write(streamHead + delta('One'))
    socket.write(`data: ${'x'.repeat(10 * megabytes)}`)
  },
  'has endless comments': (socket) => {
    socket.write(streamHead + delta('One'))
    flood(socket, ': keep-alive\n\n'.repeat(1000))
  },
  stalls: (socket) => void socket.write(streamHead + delta('One')),
  drips: (socket) => {
    socket.write(streamHead + delta('One'))
    drip(socket, Buffer.from(`${delta('x'.repeat(1000))}${ending}`), 20)
  },
  'goes on with a chunk of no length': send(
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    `${delta('One').length.toString(16)}\r\n${delta('One')}\r\nzz\r\n${delta('reply-text')}`,
  ),
  'says that it is a chunk of 4 GB': send(
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    `${delta('One').length.toString(16)}\r\n${delta('One')}\r\nffffffff\r\n`,
    'x',
  ),
}

/** Streams that only a timeout ends. */
const endless = new Set(['has an endless line of 10 MB', 'has endless comments', 'stalls', 'drips'])

const ask = (key: string, stream: boolean, model = 'patient') =>
  service.call('/v1/generate', key, { ...valid, model, stream })

let patron: ReturnType<Service['customer']> | undefined

async function isWell(): Promise<void> {
  upstream.behave(answerWell)
  const { key } = await (patron ??= service.customer())
  for (const stream of [false, true]) {
    const { status, text } = await ask(key, stream)
    assert.equal(status, 200, text)
    assert.match(text, /Well\./)
  }
}

describe('an upstream that sends', () => {
  for (const [index, [name, [behaviour, code = 'upstream_failed']]] of Object.entries(nonsense).entries()) {
    // In `npm test`, each is sent once.
    for (const stream of isEndure ? [false, true] : [index % 2 === 1]) {
      it(`${name}${stream ? ' for a stream' : ''} is ${code}; the hold is released, and the next request is served`, async () => {
        const { accountId, key } = await service.customer()
        upstream.behave(behaviour)
        const answer = await ask(key, stream, code === 'upstream_timeout' ? 'hasty' : 'patient')
        assert.equal(answer.error['code'], code, answer.text.slice(0, 500))
        assert.doesNotMatch(answer.text, /html|\b220\b|gzip|xxxx/i)
        const { rows, holds, held, charged } = await service.books(accountId)
        assert.deepEqual([rows.length, holds, held, charged], [0, 0, 0n, 0n])
        await isWell()
      })
    }
  }

  for (const [name, bytes] of Object.entries(almost)) {
    it(`${name} is upstream_failed, and nothing is charged`, async () => {
      const { accountId, key } = await service.customer()
      upstream.behave((socket) => void socket.write(bytes))
      const answer = await ask(key, false)
      assert.deepEqual([answer.status, answer.error['code']], [502, 'upstream_failed'])
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds], [0, 0])
      await isWell()
    })
  }

  for (const stream of [false, true]) {
    it(`a usage that no ledger can have${stream ? ' in a stream' : ''} is charged up to the output that was asked for (A3)`, async () => {
      const { accountId, key } = await service.customer({ credit: 10n ** 9n })
      const huge = 2 ** 52
      const hidden = { total_tokens: 3 + huge, completion_tokens_details: { reasoning_tokens: huge } }
      const usage = { prompt_tokens: 2, completion_tokens: 1, ...hidden }
      upstream.behave((socket, isStream) => {
        if (isStream) socket.end(streamHead + delta('Well.') + eventOf([], { usage }) + ending)
        else socket.write(http(completion({ usage })))
      })
      const answer = await ask(key, stream)
      assert.equal(answer.status, 200, answer.text)
      assert.match(answer.text, /"stop_reason":"complete"/)
      const { rows, holds, held, charged, creditLeft } = await service.books(accountId)
      const [row] = rows
      assert.deepEqual([rows.length, holds, held], [1, 0, 0n])
      assert.deepEqual([row?.inputTokens, row?.outputTokens, row?.cost], [2, valid.max_output_tokens, charged])
      assert.equal(creditLeft, 10n ** 9n - charged)
    })
  }

  for (const stream of [false, true]) {
    it(`a content coding that was not accepted${stream ? ' for a stream' : ''}: the log says so`, async () => {
      upstream.behave(send('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd'))
      const { key } = await service.customer()
      const logged = service.logText().length
      assert.equal((await ask(key, stream)).status, 502)
      assert.match(service.logText().slice(logged), /a content coding that was not accepted/)
    })
  }

  it('several replies: the caller gets the first, whole or streamed, and is charged for the reported usage', async () => {
    const { accountId, key } = await service.customer()
    const usage = { prompt_tokens: 3, completion_tokens: 40 }
    const several = [replyAt(1, 'Other.'), replyAt(0, 'Well.'), replyAt(2, 'Third.')]
    const told = [1, 0, 2].map((index) => delta(`Text ${index}.`).replace('"index":0', `"index":${index}`))
    const ends = [2, 0, 1].map((index) =>
      eventOf([{ index, delta: {}, finish_reason: index === 1 ? 'length' : 'stop' }]),
    )
    upstream.behave((socket, isStream) => {
      if (!isStream) socket.write(http(completion({ choices: several, usage })))
      else socket.end([streamHead, ...told, ...ends, eventOf([], { usage }), 'data: [DONE]\n\n'].join(''))
    })
    const [reply, stream] = [await ask(key, false), await ask(key, true)]
    assert.deepEqual([reply.status, reply.json['output_text']], [200, 'Well.'])
    assert.match(stream.text, /"output_text":"Text 0\.","stop_reason":"complete"/)
    assert.doesNotMatch(stream.text, /Text [12]/)
    const { rows } = await service.books(accountId)
    assert.deepEqual(valuesOf(rows, 'outputTokens'), [40, 40])
  })

  it('a NUL and a lone surrogate: the caller gets them as text, also in a replay', async () => {
    const { accountId, key } = await service.customer()
    upstream.behave((socket) => void socket.write(http(completion().replace('Well.', 'a\\u0000b\\ud800c'))))
    const headers = { 'idempotency-key': 'k' }
    const first = await service.call('/v1/generate', key, valid, headers)
    assert.deepEqual([first.status, first.json['output_text']], [200, 'a\0b\ufffdc'])
    const again = await service.call('/v1/generate', key, valid, headers)
    assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [first.text, 'true'])
    assert.equal((await service.books(accountId)).rows.length, 1)
  })
})

describe('a stream that', () => {
  // Each endless one takes as long as its timeout.
  const tried = isEndure
    ? Object.keys(broken)
    : Object.keys(broken).filter((name) => !endless.has(name) || name === 'drips')
  for (const name of tried) {
    it(`${name} ends with an error; the text sent is charged, and the next request is served`, async () => {
      const { accountId, key } = await service.customer()
      upstream.behave(broken[name] ?? assert.fail())
      const answer = await ask(key, true, endless.has(name) ? 'steady' : 'patient')
      assert.equal(answer.status, 200)
      const events = answer.text.trimEnd().split('\n\n')
      assert.match(events.at(-1) ?? '', /^event: error\ndata: \{"error":\{"code":"upstream_(failed|timeout)"/)
      assert.equal(events.length, 2, answer.text.slice(0, 500))
      const { rows, holds, held, charged } = await service.books(accountId)
      const [row] = rows
      assert.deepEqual([rows.length, row?.stopReason, row?.outputTokens], [1, 'error', 1])
      assert.deepEqual([holds, held, charged], [0, 0n, row?.cost])
      assert.doesNotMatch(service.logText(), /reply-text/)
      await isWell()
    })
  }

  it('arrives byte by byte is read correctly', async () => {
    const { key } = await service.customer()
    const bytes = Buffer.from(`${delta('Grüß ')}${delta('Gott')}${ending}`)
    upstream.behave((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      for (const byte of bytes)
        socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.of(byte), Buffer.from('\r\n')]))
      socket.write('0\r\n\r\n')
    })
    const { text } = await ask(key, true)
    assert.match(text, /"delta":"Grüß "[^]*"delta":"Gott"[^]*"output_text":"Grüß Gott"/)
  })
})

it('no connection to the upstream is left open', async () => {
  await until(() => upstream.connections <= 1)
})
