import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { startVendor } from '../tests/support/vendor.ts'
import { readResponse } from './http-response.ts'
import { runLoad, type Load } from './load.ts'
import { countOwnTime } from '../tests/support/clock.ts'

// The time of a load is that in which the machine lets it run.
countOwnTime()
const vendor = await startVendor()
const body = '{"model":"m","messages":[]}'
const expected = await fetch(`${vendor.url}/chat/completions`, { method: 'POST', body }).then((answer) => answer.text())
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

test('every request that the server saw is an answer that was counted', async () => {
  const before = vendor.calls
  const outcome = await runLoad(load)
  assert(outcome.answers >= load.connections, `${outcome.answers}`)
  assert.equal(vendor.calls - before, outcome.answers)
  assert.equal(vendor.abandoned, 0)
  assert.deepEqual([outcome.wrong, outcome.cut, outcome.firstWrong], [0, 0, undefined])
  assert(outcome.perSecond <= outcome.answers / load.seconds && outcome.perSecond > 0)
  assert(outcome.latency.p50 > 0 && outcome.latency.p50 <= outcome.latency.p99)
  assert.deepEqual(vendor.last.body, { model: 'm', messages: [] })
  assert.equal(vendor.last.headers['x-more'], 'yes')
  assert.match(vendor.last.headers.authorization ?? '', /^Bearer (one|two)$/)
})

test('another body, another status and a connection that is cut are not answers', async () => {
  vendor.set({ text: 'Something else.' })
  const other = await runLoad(load)
  assert.equal(other.wrong, other.answers)
  assert.match(other.firstWrong ?? '', /^200 .*Something else/)

  vendor.set({ fault: 'rate_limit' })
  const refused = await runLoad(load)
  assert.equal(refused.wrong, refused.answers)
  assert.match(refused.firstWrong ?? '', /^429 /)

  vendor.set({ fault: 'reset' })
  const cut = await runLoad(load)
  assert.deepEqual([cut.answers, cut.cut], [0, 4])
})

test('a response is read when it has arrived whole, by its length or by its chunks', () => {
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
