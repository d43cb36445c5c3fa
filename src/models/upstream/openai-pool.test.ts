import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import net from 'node:net'
import { after, afterEach, describe, test } from 'node:test'
import { settle, stopClock } from '../../../tests/support/clock.ts'
import { createGate } from '../../../tests/support/gate.ts'
import { until } from '../../../tests/support/until.ts'
import type { Fault } from '../../../tests/support/vendor-faults.ts'
import { createModels, failure, parts, pieces } from '../../../tests/support/vendor-run.ts'
import { startVendor } from '../../../tests/support/vendor.ts'
import type { Model } from '../model.ts'
import { refused as failureOf } from './failure.ts'

const [one, two] = [await startVendor(), await startVendor()]
const models = createModels()
const timeout = { connect: 30_000, first_token: 20_000, total: 60_000 }
const shortTotal = { connect: 30_000, first_token: 60_000, total: 20_000 }
const openOne = () => models.openAi({ endpoints: [{ url: one.url }], timeout })
const openBoth = () => models.openAi({ endpoints: [{ url: one.url }, { url: two.url }], timeout })

afterEach(async () => {
  for (const vendor of [one, two]) vendor.set({})
  await models.close()
})
after(() => Promise.all([one.close(), two.close()]))

/** Counts the calls to each vendor during `work`. */
async function counted(act: () => Promise<unknown>): Promise<[number, number]> {
  const before = [one.calls, two.calls] as const
  await act()
  return [one.calls - before[0], two.calls - before[1]]
}

/** A privileged port on which nothing listens. */
const nowhere = 'http://127.0.0.1:1/v1'

const run = async (model: Model, stream: boolean) => parts(await pieces(model, { stream }))

test('A13 a request is sent again where its status says that another attempt may succeed', () => {
  const statuses = [400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529]
  const answer = { retryAfter: undefined, body: '', origin: 'https://models.example', code: 'none' }
  const again = statuses.filter(
    (status) => failureOf({ ...answer, status }, { maxOutputTokens: 1, context: 2 }).repeatable,
  )
  assert.deepEqual(again, [408, 429, 500, 502, 503, 504, 529])
})

for (const stream of [false, true]) {
  describe(`A13 attempts of ${stream ? 'a stream' : 'a reply in one piece'}`, () => {
    for (const fault of ['server_error', 'rate_limit', 'reset'] as const satisfies Fault[]) {
      test(`${fault} twice, then the third attempt succeeds`, async () => {
        one.set({ fault, times: 2 })
        const model = openOne()
        assert.deepEqual(
          await counted(async () => assert.equal((await run(model, stream)).texts.join(''), 'Hello there.')),
          [3, 0],
        )
      })

      test(`${fault} goes to another endpoint at once`, async (t) => {
        // A pause would never end.
        stopClock(t)
        one.set({ fault, retryAfter: '60' })
        const model = openBoth()
        for (let round = 0; round < 4; round++) {
          const { calls } = two
          const running = run(model, stream)
          await until(() => two.calls > calls)
          assert.equal((await running).texts.join(''), 'Hello there.')
        }
      })
    }

    test('after a failure, an endpoint of low weight is tried before the same one again', async () => {
      one.set({ fault: 'server_error' })
      const endpoints = [
        { url: one.url, weight: 9 },
        { url: two.url, weight: 1 },
      ]
      const calls = await counted(() => run(models.openAi({ endpoints, timeout }), stream))
      assert.deepEqual(calls, [1, 1])
    })

    test('there are never more than 3', async () => {
      one.set({ fault: 'server_error' })
      assert.deepEqual(await counted(() => failure(openOne(), { stream })), [3, 0])
    })

    for (const fault of ['wrong_key', 'bad_request', 'context_length', 'redirect'] as const) {
      test(`${fault} is not retried`, async () => {
        one.set({ fault })
        assert.deepEqual(await counted(() => failure(openOne(), { stream })), [1, 0])
      })
    }

    test('Retry-After is honoured', async (t) => {
      const clock = stopClock(t)
      one.set({ fault: 'rate_limit', retryAfter: '1', times: 1 })
      models.lines.length = 0
      const before = one.calls
      const running = run(openOne(), stream)
      await until(() => models.lines.some((line) => line.includes('an attempt failed')))
      clock.advance(999)
      await settle()
      assert.equal(one.calls, before + 1)
      // A part of the pause is random.
      clock.advance(1000)
      await running
      assert.equal(one.calls, before + 2)
    })

    test('a Retry-After that is too long is passed on at once', async (t) => {
      // A pause would never end.
      stopClock(t)
      one.set({ fault: 'rate_limit', retryAfter: '30' })
      const calls = await counted(async () => {
        const { code, details } = await failure(openOne(), { stream })
        assert.deepEqual([code, details.retryAfter], ['overloaded', 30])
      })
      assert.deepEqual(calls, [1, 0])
    })

    test('a caller who disconnects frees the connection', async () => {
      one.set({ fault: 'hang' })
      const model = models.openAi({ endpoints: [{ url: one.url }], timeout, connections: 1 })
      const { calls } = one
      const leaving = new AbortController()
      const running = pieces(model, { stream }, leaving.signal)
      await until(() => one.calls > calls)
      assert.equal((await failure(model, { stream })).code, 'overloaded')
      leaving.abort()
      assert.equal(parts(await running).stopReason, 'cancelled')
      await settle()
      one.set({})
      assert.equal((await run(model, stream)).stopReason, 'complete')
    })

    test('no attempt begins after the total timeout', async (t) => {
      stopClock(t)
      one.set({ fault: 'rate_limit', retryAfter: '30' })
      const model = models.openAi({ endpoints: [{ url: one.url }], timeout: shortTotal })
      models.lines.length = 0
      const pausing = until(() => models.lines.some((line) => line.includes('an attempt failed')))
      const refused = failure(model, { stream }).then(({ code }) => code)
      assert.equal(
        await Promise.race([
          refused,
          pausing.then(
            () => 'it pauses',
            () => undefined,
          ),
        ]),
        'overloaded',
      )
    })

    test('a second attempt has only the time that the first one left', async (t) => {
      const clock = stopClock(t)
      one.set({ fault: 'server_error', delay: 15_000 })
      two.set({ fault: 'hang' })
      const endpoints = [{ url: one.url }, { url: two.url }]
      const model = models.openAi({ endpoints, timeout: shortTotal })
      const calls = await counted(async () => {
        let code: string | undefined
        const failed = failure(model, { stream }).then((problem) => void (code = problem.code))
        const before = [one.calls, two.calls] as const
        await until(() => one.calls > before[0])
        clock.advance(15_000)
        await until(() => two.calls > before[1])
        clock.advance(4999)
        await settle()
        assert.equal(code, undefined)
        clock.advance(1)
        await settle()
        assert.equal(code, 'upstream_timeout')
        await failed
      })
      assert.deepEqual(calls, [1, 1])
    })

    test('an endpoint with Retry-After is left alone while there is another', async () => {
      const model = openBoth()
      one.set({ fault: 'rate_limit', retryAfter: '60', times: 1 })
      const calls = await counted(async () => {
        for (let round = 0; round < 6; round++) await run(model, stream)
      })
      assert.deepEqual(calls, [1, 6])
    })

    test('an unreachable endpoint is skipped', async () => {
      const gone = { url: nowhere }
      const model = models.openAi({ endpoints: [gone, { url: two.url }], timeout })
      for (let round = 0; round < 4; round++) assert.equal((await run(model, stream)).texts.join(''), 'Hello there.')
      assert.equal((await failure(models.openAi({ endpoints: [gone], timeout }), { stream })).code, 'upstream_failed')
    })

    test('a caller who disconnects during a pause causes no further attempt', async (t) => {
      const clock = stopClock(t)
      one.set({ fault: 'rate_limit', retryAfter: '1' })
      const leaving = new AbortController()
      models.lines.length = 0
      const calls = await counted(async () => {
        const running = pieces(openOne(), { stream }, leaving.signal)
        await until(() => models.lines.some((line) => line.includes('an attempt failed')))
        leaving.abort()
        // The pause itself would never end.
        assert.equal(parts(await running).stopReason, 'cancelled')
        clock.advance(10_000)
        await settle()
      })
      assert.deepEqual(calls, [1, 0])
    })
  })
}

describe('A13 an endpoint that keeps failing', () => {
  test('is skipped, reported, and used again after a probe', async (t) => {
    const clock = stopClock(t)
    const model = openOne()
    assert.deepEqual(model.health(), { ready: true })
    one.set({ fault: 'wrong_key' })
    for (let round = 0; round < 5; round++) assert.equal((await failure(model)).code, 'upstream_failed')
    const { ready, reason } = model.health()
    assert.equal(ready, false)
    assert.match(reason ?? '', /127\.0\.0\.1/)
    const calls = await counted(async () => {
      const { code, details } = await failure(model)
      assert.equal(code, 'unavailable')
      assert.ok([1, 2].includes(details.retryAfter ?? 0), `${details.retryAfter} s`)
    })
    assert.deepEqual(calls, [0, 0], 'it gets no request')

    one.set({})
    clock.advance(1150)
    assert.equal(model.health().ready, true, 'a probe would be let through')
    assert.equal(parts(await pieces(model)).stopReason, 'complete')
    assert.deepEqual(model.health(), { ready: true })
    assert.deepEqual(
      models.lines.filter((line) => /skipped for now|has recovered/.test(line)).length,
      2,
      models.lines.join(''),
    )
  })

  test('does not affect the others', async (t) => {
    stopClock(t)
    const model = openBoth()
    one.set({ fault: 'server_error' })
    const first = await counted(async () => {
      for (let round = 0; round < 20; round++) assert.equal(parts(await pieces(model)).stopReason, 'complete')
    })
    assert.deepEqual(first, [5, 20])
    const { ready, reason } = model.health()
    assert.deepEqual([ready, reason?.includes(new URL(one.url).port)], [true, true])
  })

  test('a request that fails three times at one endpoint counts once', async () => {
    const model = openOne()
    one.set({ fault: 'server_error' })
    for (let round = 0; round < 4; round++) await failure(model)
    assert.equal(model.health().ready, true)
  })

  test('interrupted streams count as failures', async (t) => {
    stopClock(t)
    const model = openOne()
    one.set({ fault: 'early_end', after: 2 })
    for (let round = 0; round < 10; round++) await pieces(model, { stream: true })
    assert.equal(model.health().ready, false)
  })

  test("a caller's fault does not open the breaker", async () => {
    const model = openOne()
    one.set({ fault: 'context_length' })
    for (let round = 0; round < 8; round++) assert.equal((await failure(model)).code, 'context_length_exceeded')
    assert.deepEqual(model.health(), { ready: true })
  })
})

/** A port that never accepts a connection: its process is stopped, and its backlog is full. */
async function silentPort() {
  const program = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const printed: unknown = await new Promise((resolve) => child.stdout.once('data', resolve))
  const port = Number(String(printed))
  child.kill('SIGSTOP')
  const filling = Array.from({ length: 4 }, () => net.connect(port, '127.0.0.1').on('error', () => undefined))
  await settle()
  return {
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.dispose]() {
      for (const socket of filling) socket.destroy()
      child.kill('SIGKILL')
    },
  }
}

test('an endpoint that accepts no connection in time is skipped; if it is the only one, upstream_failed', async () => {
  using silent = await silentPort()
  models.lines.length = 0
  // Not so little that a busy machine does not connect to the other endpoint in time.
  const patient = { ...timeout, connect: 5000 }
  const both = models.openAi({ endpoints: [{ url: silent.url }, { url: one.url }], timeout: patient })
  assert.equal((await run(both, true)).texts.join(''), 'Hello there.')
  assert.ok(models.lines.some((line) => line.includes('an attempt failed')))
  const alone = models.openAi({ endpoints: [{ url: silent.url }], timeout: { ...timeout, connect: 500 } })
  assert.equal((await failure(alone)).code, 'upstream_failed')
})

test('a full endpoint passes requests on; if all are full, overloaded', async () => {
  const gate = createGate()
  for (const vendor of [one, two]) vendor.set({ gate: gate.pass })
  const model = models.openAi({ endpoints: [{ url: one.url }, { url: two.url }], connections: 2 })
  const calls = await counted(async () => {
    const four = Array.from({ length: 4 }, () => pieces(model))
    assert.equal((await failure(model)).code, 'overloaded')
    gate.open()
    await Promise.all(four)
  })
  assert.deepEqual(calls, [2, 2])
})
