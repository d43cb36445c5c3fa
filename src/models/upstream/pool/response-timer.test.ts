import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stopClock } from '../../../../tests/support/clock.ts'
import type { Failure } from '../failure.ts'
import { ResponseTimer } from './deadline.ts'

const bounds = { first: 100, total: 1000 }

const fail = (): void => assert.fail('it was stopped')

describe('the timer of a response', () => {
  it('reports a response that does not begin in time, which another endpoint may still give', (t) => {
    const clock = stopClock(t)
    const failures: Failure[] = []
    const timer = new ResponseTimer(bounds, (failure) => failures.push(failure))
    clock.advance(99)
    assert.equal(failures.length, 0)
    clock.advance(10_000)
    assert.deepEqual(
      failures.map(({ repeatable, problem }) => [repeatable, problem.code]),
      [[true, 'upstream_timeout']],
    )
    timer.stop()
  })

  it('reports a response that has begun but does not end in time, which must not be asked for again', (t) => {
    const clock = stopClock(t)
    const failures: Failure[] = []
    const timer = new ResponseTimer(bounds, (failure) => failures.push(failure))
    clock.advance(99)
    timer.begun()
    clock.advance(900)
    assert.equal(failures.length, 0)
    clock.advance(10_000)
    assert.deepEqual(
      failures.map(({ repeatable, problem }) => [repeatable, problem.code]),
      [[false, 'upstream_timeout']],
    )
  })

  it('reports nothing after it was stopped, before or after the response began', (t) => {
    const clock = stopClock(t)
    const [early, late] = [new ResponseTimer(bounds, fail), new ResponseTimer(bounds, fail)]
    early.stop()
    late.begun()
    clock.advance(500)
    late.stop()
    clock.advance(10_000)
  })

  it('does not wait longer for a beginning than for the end', (t) => {
    const clock = stopClock(t)
    const failures: Failure[] = []
    const late = (failure: Failure): void => void failures.push(failure)
    const timers = [
      new ResponseTimer({ first: 1000, total: 100 }, late),
      new ResponseTimer({ first: 1000, total: 100 }, late),
    ]
    timers[0]?.begun()
    clock.advance(99)
    assert.equal(failures.length, 0)
    clock.advance(2)
    assert.equal(failures.length, 2)
  })
})
