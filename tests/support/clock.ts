import assert from 'node:assert/strict'
import { mock, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { until } from './until.ts'

/** The machine's clock, even while `performance.now` is mocked. */
export const realNow = performance.now.bind(performance)
const { clearTimeout: clearReal } = globalThis

/** Timers of all stopped clocks, including clocks of earlier tests. */
const stopped = new WeakSet<object>()
const isReal = (handle: unknown): handle is NodeJS.Timeout =>
  typeof handle === 'object' && handle !== null && !stopped.has(handle)

interface Timer {
  at: number
  readonly every: number | undefined
  readonly call: () => void
}

/**
 * Stops `performance.now` and the global timers for one test. `advance` moves them. Sockets are not affected.
 *
 * `mock.timers` of node:test does not suit: clearing a real timer from before, as a connection pool does, clears a mocked
 * one instead.
 */
export function stopClock(t: TestContext): { advance(milliseconds: number): void } {
  // Whole milliseconds: a test adds up parts of a time limit, and each sum would round a fraction.
  let time = Math.ceil(performance.now())
  const timers = new Map<object, Timer>()

  function add(call: () => void, delay: number, every?: number): object {
    const handle: { readonly refresh: () => object } & object = Object.freeze({
      ref: () => handle,
      unref: () => handle,
      hasRef: () => false,
      refresh() {
        timers.set(handle, { at: time + delay, every, call })
        return handle
      },
    })
    stopped.add(handle)
    return handle.refresh()
  }
  function clear(handle: unknown): void {
    if (typeof handle === 'object' && handle !== null && timers.delete(handle)) return
    if (isReal(handle)) clearReal(handle)
  }
  function callNext(end: number): boolean {
    const due = [...timers].filter(([, { at }]) => at <= end).toSorted(([, one], [, other]) => one.at - other.at)[0]
    if (due === undefined) return false
    const [handle, timer] = due
    time = timer.at
    if (timer.every === undefined) timers.delete(handle)
    else timer.at += timer.every
    timer.call()
    return true
  }

  t.mock.method(performance, 'now', () => time)
  t.mock.method(globalThis, 'setTimeout', (call: (...values: unknown[]) => void, delay = 0, ...values: unknown[]) =>
    add(() => call(...values), Math.max(1, delay)),
  )
  t.mock.method(globalThis, 'setInterval', (call: (...values: unknown[]) => void, delay = 0, ...values: unknown[]) =>
    add(() => call(...values), Math.max(1, delay), Math.max(1, delay)),
  )
  t.mock.method(globalThis, 'clearTimeout', clear)
  t.mock.method(globalThis, 'clearInterval', clear)
  return {
    advance(milliseconds) {
      const end = time + milliseconds
      while (callNext(end));
      time = end
    },
  }
}

/** Moves `performance.now` forward for one test. Timers keep real time. */
export function putForward(t: TestContext): (milliseconds: number) => void {
  let ahead = 0
  t.mock.method(performance, 'now', () => realNow() + ahead)
  return (milliseconds) => void (ahead += milliseconds)
}

/** Runs everything that is ready, including socket events. Call it before asserting that something did not happen. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await turn()
}

/** The longest that one pause of the machine counts, in ms. */
const mostPause = 100

/**
 * Makes `performance.now` advance only while this process runs, so that durations that the code measures do not depend
 * on the machine's load.
 */
export function countOwnTime(): void {
  let time = realNow()
  let looked = time
  const look = () => {
    const now = realNow()
    time += Math.min(now - looked, mostPause)
    looked = now
    return time
  }
  setInterval(look, mostPause / 5).unref()
  mock.method(performance, 'now', look)
}

/** Waits until `performance.now` has advanced by this much. */
export async function pass(milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds
  await until(() => performance.now() >= end)
}

/** Asserts that a time lies between two others, read before and after what set it. Some times are in whole seconds. */
export function assertBetween(time: unknown, earliest: number, latest = Date.now()): void {
  const at = time instanceof Date ? time.getTime() : Date.parse(String(time))
  assert.ok(at > earliest - 1000 && at < latest + 1000, `${String(time)} is not from ${earliest} to ${latest}`)
}
