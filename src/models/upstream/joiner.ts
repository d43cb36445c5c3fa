/** Joins surrogate pairs that a server splits between two events. */
export interface Joiner {
  add(text: string): string
  rest(): string
}

export function createJoiner(): Joiner {
  let half = ''
  return {
    add(text) {
      if (text === '') return ''
      const whole = half + text
      if (whole.isWellFormed()) {
        half = ''
        return whole
      }
      half = /[\uD800-\uDBFF]$/.test(whole) ? whole.slice(-1) : ''
      return (half === '' ? whole : whole.slice(0, -1)).toWellFormed()
    },
    rest: () => half.toWellFormed(),
  }
}
