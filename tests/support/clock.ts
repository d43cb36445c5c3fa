import { mock, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { until } from './until.ts'

/** The clock of the machine, whatever the others say. */
export const realNow = performance.now.bind(performance)
const { clearTimeout: clearReal } = globalThis

/** Those of every stopped clock, also of one that goes again. */
const stopped = new WeakSet<object>()
const isReal = (handle: unknown): handle is NodeJS.Timeout =>
  typeof handle === 'object' && handle !== null && !stopped.has(handle)

interface Timer {
  at: number
  readonly every: number | undefined
  readonly call: () => void
}

/**
 * Time that stands still for one test until it is told to go on: `performance.now`, and what the global `setTimeout` and
 * `setInterval` wait for. What comes over sockets comes as ever.
 *
 * The runner's own timers are not used: to clear one that an earlier test had made, as a pool of connections does, takes
 * another away.
 */
export function stopClock(t: TestContext): { advance(milliseconds: number): void } {
  // Whole milliseconds: a test adds up parts of a time limit, and a fraction would be rounded at each of them.
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

/** Puts `performance.now` forward by so many milliseconds for one test; timers go off as ever. */
export function putForward(t: TestContext): (milliseconds: number) => void {
  let ahead = 0
  t.mock.method(performance, 'now', () => realNow() + ahead)
  return (milliseconds) => void (ahead += milliseconds)
}

/** Lets come what waits for nothing, also over a socket: before a test says that something has not come. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await turn()
}

/** As much as one pause of the machine counts for, in milliseconds. */
const mostPause = 100

/**
 * Lets `performance.now` of this process go on only while the process does: what the code under test measures in
 * milliseconds is then no matter of whether the machine let it run.
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

/** Waits until so many milliseconds have passed by the clock that this process goes by. */
export async function pass(milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds
  await until(() => performance.now() >= end)
}
