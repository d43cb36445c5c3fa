import { setImmediate as nextTurn } from 'node:timers/promises'

/** Milliseconds of long work in one turn of the event loop. */
const longestWork = 5

/** When long work began in this turn. */
let begun: number | undefined
let last = Promise.resolve()

/**
 * Call it between the steps of long work. It waits for a later turn of the event loop once such work, of all requests
 * together, has taken its time in this one. If several wait, each turn lets one go on.
 */
export function pace(): Promise<void> | undefined {
  if (performance.now() - begin() < longestWork) return undefined
  last = last.then(() => nextTurn()).then(() => void begin())
  return last
}

function begin(): number {
  if (begun === undefined) {
    begun = performance.now()
    setImmediate(() => (begun = undefined))
  }
  return begun
}
