import { mock, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

/** The clock of the machine, whatever the others say. */
export const realNow = performance.now.bind(performance)

/**
 * Time that stands still for one test until it is told to go on: `performance.now` and what `setTimeout` and `setInterval`
 * wait for. What comes over sockets comes as ever.
 */
export function stopClock(t: TestContext): { advance(milliseconds: number): void } {
  let time = performance.now()
  t.mock.method(performance, 'now', () => time)
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  return {
    advance(milliseconds) {
      time += milliseconds
      t.mock.timers.tick(milliseconds)
    },
  }
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
