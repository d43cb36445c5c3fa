import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import type { VendorOptions } from '../tests/support/vendor-options.ts'
import { startVendor } from '../tests/support/vendor.ts'
import { runStreams, type StreamLoad } from './stream-load.ts'
import { createStreamReader } from './stream-reader.ts'
import { countOwnTime, pass, settle } from '../tests/support/clock.ts'

// A load lasts for a given processor time, so that a busy machine does not starve it.
countOwnTime()
const vendor = await startVendor()
afterEach(() => vendor.set({}))
after(() => vendor.close())

/** Events without a token: the role, the finish reason, the usage and the end. */
const otherEvents = 4
const play = async (
  options: VendorOptions & { tokens: number },
  pace: Pick<StreamLoad, 'connections' | 'perSecond'>,
) => {
  vendor.set(options)
  const before = vendor.calls
  const outcome = await runStreams({
    port: Number(new URL(vendor.url).port),
    path: '/v1/chat/completions',
    headers: {},
    keys: ['none'],
    body: '{"model":"m","stream":true}',
    events: 5 + otherEvents,
    seconds: 0.3,
    ...pace,
  })
  return { ...outcome, calls: vendor.calls - before }
}

test('every stream that the server received is counted with all its events', async () => {
  for (const pace of [{ connections: 4 }, { perSecond: 200 }] as { connections?: number; perSecond?: number }[]) {
    const { streams, wrong, calls, eventsPerSecond, firstText, firstWrong } = await play({ tokens: 5 }, pace)
    // However slow the machine is, each connection plays one stream, and at a rate every due stream starts.
    assert.ok(streams >= (pace.connections ?? 10), `${streams}`)
    assert.deepEqual([calls, wrong, firstWrong], [streams, 0, undefined])
    const most = (streams * (5 + otherEvents)) / 0.3
    assert.ok(eventsPerSecond <= most && eventsPerSecond > 0, `${eventsPerSecond} of ${most}`)
    assert.ok(firstText.p50 > 0 && firstText.p50 <= firstText.p99)
  }
})

/** Pauses before the first two tokens, after everything sent so far has been read. */
async function pauseAtFirst(step: number): Promise<void> {
  if (step > 1) return
  await settle()
  await pass(200)
}

test('each connection plays at least one stream, and its longest gap is measured', async () => {
  const { streams, longestGap, firstText } = await play({ tokens: 5, gate: pauseAtFirst }, { connections: 3 })
  assert.ok(streams >= 3, `${streams}`)
  assert.ok(longestGap > 150, `${longestGap} ms`)
  assert.ok(firstText.p50 > 150, `${firstText.p50} ms`)
})

test('a wrong number of events, a cut and a refusal are errors', async () => {
  for (const [options, fault] of [
    [{ tokens: 6 }, /^10 events instead of 9$/],
    [{ tokens: 5, fault: 'reset', after: 2 }, /^cut off$/],
    [{ tokens: 5, fault: 'rate_limit' }, /^HTTP\/1.1 429 /],
  ] as const) {
    const { streams, wrong, firstWrong } = await play(options, { connections: 1 })
    assert.equal(wrong, streams)
    assert.match(firstWrong ?? '', fault)
  }
})

test('a stream reads the same wherever the bytes are split', () => {
  const bytes = Buffer.from(
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n12\r\ndata: word\n\ndata\n\n\r\n0\r\n\r\n',
  )
  for (let at = 13; at < bytes.length; at++) {
    const reader = createStreamReader()
    assert.equal(reader.push(bytes.subarray(0, at), 1), false)
    assert.equal(reader.push(bytes.subarray(at), 2), true, `split at ${at}`)
    assert.deepEqual([reader.events, reader.refusal], [3, undefined], `split at ${at}`)
  }
})
