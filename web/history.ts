import { believed } from './wire.ts'

/**
 * Another hash in the address bar makes a place in the history without what the router keeps in each: its number.
 * Without that a move cannot be held up, and what is not saved would be lost by it. This numbers such places; called
 * before the router is made, it hears of them first. Returns what the router's moves are to be followed with.
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
