import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createBreaker, type Breaker } from './breaker.ts'
import type { Health } from './failure.ts'

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
/** Goes on to where the cool-down is over. */
const wait = () => {
  const before = now
  now = breaker.retryAt ?? now
  return now - before
}

describe('A13 a circuit breaker', () => {
  test('opens after 5 failures in a row, and says so once', () => {
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

  test('stays closed for failures that are few, and for outcomes that say nothing', () => {
    for (let round = 0; round < 100; round++)
      note('healthy', 'failing', 'healthy', 'unknown', 'unknown', 'unknown', 'unknown')
    assert.deepEqual(changes, [])
  })

  test('lets one request through when the cool-down is over, and no second beside it', () => {
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

  test('waits twice as long after each probe that fails, up to 10 s, and anew after it was back', () => {
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

  test('lets the next request probe when the one before was given up by its caller', () => {
    note(...sick(5))
    wait()
    note('unknown')
    assert.equal(breaker.permits(now), true)
  })

  test('does not wait longer for what fails late, and closes for what succeeds late', () => {
    const late = [breaker.begin(), breaker.begin()]
    note(...sick(5))
    const at = breaker.retryAt
    late[0]?.('failing', now + 500)
    assert.equal(breaker.retryAt, at)
    late[1]?.('healthy', now + 500)
    assert.equal(breaker.retryAt, undefined)
  })
})
