import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { startVendor } from '../tests/support/vendor.ts'
import { readResponse } from './http-response.ts'
import { runLoad, type Load } from './load.ts'
import { countOwnTime } from '../tests/support/clock.ts'

// A load lasts for a given processor time, so that a busy machine does not starve it.
countOwnTime()
const vendor = await startVendor()
const body = '{"model":"m","messages":[]}'
const expected = await fetch(`${vendor.url}/chat/completions`, { method: 'POST', body }).then((response) =>
  response.text(),
)
const load: Load = {
  port: Number(new URL(vendor.url).port),
  path: '/v1/chat/completions',
  headers: { 'x-more': 'yes' },
  keys: ['one', 'two'],
  body,
  expected,
  connections: 4,
  seconds: 0.2,
}

afterEach(() => vendor.set({}))
after(() => vendor.close())

test('every request that the server received is counted once', async () => {
  const before = vendor.calls
  const result = await runLoad(load)
  assert(result.responses >= load.connections, `${result.responses}`)
  assert.equal(vendor.calls - before, result.responses)
  assert.equal(vendor.abandoned, 0)
  assert.deepEqual([result.wrong, result.cut, result.firstWrong], [0, 0, undefined])
  assert(result.perSecond <= result.responses / load.seconds && result.perSecond > 0)
  assert(result.latency.p50 > 0 && result.latency.p50 <= result.latency.p99)
  assert.deepEqual(vendor.last.body, { model: 'm', messages: [] })
  assert.equal(vendor.last.headers['x-more'], 'yes')
  assert.match(vendor.last.headers.authorization ?? '', /^Bearer (one|two)$/)
})

test('another body, another status and a cut connection are errors', async () => {
  vendor.set({ text: 'Something else.' })
  const other = await runLoad(load)
  assert.equal(other.wrong, other.responses)
  assert.match(other.firstWrong ?? '', /^200 .*Something else/)

  vendor.set({ fault: 'rate_limit' })
  const refused = await runLoad(load)
  assert.equal(refused.wrong, refused.responses)
  assert.match(refused.firstWrong ?? '', /^429 /)

  vendor.set({ fault: 'reset' })
  const cut = await runLoad(load)
  assert.deepEqual([cut.responses, cut.cut], [0, 4])
})

test('a response is complete when its Content-Length or its last chunk has arrived', () => {
  for (const response of [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nx: y\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n',
  ]) {
    const bytes = Buffer.from(response)
    for (let length = 0; length < bytes.length; length++) {
      assert.equal(readResponse(bytes.subarray(0, length)), undefined, response.slice(0, length))
    }
    const read = readResponse(bytes)
    assert.deepEqual([read?.status, read?.body.toString()], [200, 'hello'])
  }
})
