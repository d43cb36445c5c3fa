import { believed } from './wire.ts'

/**
 * Numbers the history entries that a new hash in the address bar creates. The router needs the number to block a move and
 * so protect unsaved text. Call this before creating the router, so that its listener runs first. Returns the listener for
 * the router's own moves.
 */
export function numberPlaces(): () => void {
  let here = 0
  const follow = () => {
    here = numberOfPlace() ?? here
  }
  addEventListener('popstate', () => {
    if (numberOfPlace() === undefined) {
      history.replaceState({ idx: here + 1, key: crypto.randomUUID().slice(0, 8) }, '')
    }
    follow()
  })
  return follow
}

function numberOfPlace(): number | undefined {
  return believed<{ readonly idx?: number } | null>(history.state)?.idx
}
