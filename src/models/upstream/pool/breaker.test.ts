import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createBreaker, type Breaker } from './breaker.ts'
import type { Health } from '../failure.ts'

let breaker: Breaker
let changes: string[]
let now: number
beforeEach(() => {
  changes = []
  now = 1000
  breaker = createBreaker(({ state, failures }) => changes.push(`${state} ${failures}`))
})

const note = (...outcomes: Health[]) => {
  for (const health of outcomes) breaker.begin()(health, now)
}
const sick = (times: number): Health[] => Array.from({ length: times }, () => 'failing')
/** Advances to the end of the cool-down. */
const wait = () => {
  const before = now
  now = breaker.retryAt ?? now
  return now - before
}

describe('A13 a circuit breaker', () => {
  test('opens after 5 failures in a row and reports it once', () => {
    note(...sick(4), 'healthy', ...sick(4))
    assert.equal(breaker.permits(now), true)
    note('failing')
    assert.equal(breaker.permits(now), false)
    assert.deepEqual(changes, ['open 5'])
  })

  test('opens when half of the last 20 outcomes are failures', () => {
    for (let pair = 0; pair < 9; pair++) note('failing', 'healthy')
    note('healthy')
    assert.equal(breaker.permits(now), true)
    note('failing')
    assert.deepEqual(changes, ['open 1'])
  })

  test('stays closed for rare failures and unknown outcomes', () => {
    for (let round = 0; round < 100; round++)
      note('healthy', 'failing', 'healthy', 'unknown', 'unknown', 'unknown', 'unknown')
    assert.deepEqual(changes, [])
  })

  test('lets one request through after the cool-down, and no second meanwhile', () => {
    note(...sick(5))
    const cool = wait()
    assert.ok(cool >= 900 && cool <= 1100, `${cool} ms`)
    assert.equal(breaker.permits(now - 1), false)
    assert.equal(breaker.permits(now), true)
    const report = breaker.begin()
    assert.equal(breaker.permits(now), false)
    report('healthy', now)
    assert.equal(breaker.permits(now), true)
    assert.equal(breaker.retryAt, undefined)
    assert.deepEqual(changes, ['open 5', 'closed 0'])
  })

  test('doubles the cool-down after each failed probe, up to 10 s, and resets it after recovery', () => {
    note(...sick(5))
    const pauses = Array.from({ length: 6 }, () => {
      const pause = wait()
      note('failing')
      return Math.round(pause / 1000)
    })
    assert.deepEqual(pauses.slice(0, 3), [1, 2, 4])
    assert.ok(
      pauses.slice(4).every((seconds) => seconds >= 9 && seconds <= 11),
      String(pauses),
    )
    wait()
    note('healthy', ...sick(5))
    assert.equal(Math.round(wait() / 1000), 1)
  })

  test('lets the next request probe if the previous caller disconnected', () => {
    note(...sick(5))
    wait()
    note('unknown')
    assert.equal(breaker.permits(now), true)
  })

  test('is not extended by late failures, and is closed by late successes', () => {
    const late = [breaker.begin(), breaker.begin()]
    note(...sick(5))
    const at = breaker.retryAt
    late[0]?.('failing', now + 500)
    assert.equal(breaker.retryAt, at)
    late[1]?.('healthy', now + 500)
    assert.equal(breaker.retryAt, undefined)
  })
})
