export interface Part {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
  readonly key: string
}

/** The number of words, or of lines, beyond which texts are not compared one by one, which would be slow and unreadable. */
const most = 2000

/** The word-by-word difference: the common, removed and added parts, in order. */
export function differences(before: string, after: string): Part[] {
  return joined(compared(wordsOf(before), wordsOf(after)))
}

/** The common, removed and added words or lines, in order. Removed ones are before added ones. */
export function compared(old: readonly string[], fresh: readonly string[]): Omit<Part, 'key'>[] {
  if (old.length > most || fresh.length > most) return [...old.map(removed), ...fresh.map(added)]
  const lengths = commonLengths(old, fresh)
  const parts: Omit<Part, 'key'>[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < fresh.length) {
    const [gone = '', come = ''] = [old[i], fresh[j]]
    if (i < old.length && j < fresh.length && gone === come) {
      parts.push({ kind: 'same', text: gone })
      i++
      j++
    } else if (j >= fresh.length || (i < old.length && at(lengths, i + 1, j) >= at(lengths, i, j + 1))) {
      parts.push(removed(gone))
      i++
    } else {
      parts.push(added(come))
      j++
    }
  }
  return parts
}

/** The whole old and new value: for names, choices and amounts. */
export function replacement(before: string, after: string): Part[] {
  const space = before !== '' && after !== '' ? [{ kind: 'same', text: ' ' } as const] : []
  return joined([removed(before), ...space, added(after)].filter(({ text }) => text !== ''))
}

const removed = (text: string) => ({ kind: 'removed', text }) as const
const added = (text: string) => ({ kind: 'added', text }) as const

function wordsOf(text: string): string[] {
  return text.split(/(\s+)/).filter((word) => word !== '')
}

/** The length of the longest common subsequence from each pair of positions to the ends. */
function commonLengths(old: readonly string[], fresh: readonly string[]): Uint16Array[] {
  const rows = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1))
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const row = rows[i]
      if (!row) continue
      row[j] = old[i] === fresh[j] ? at(rows, i + 1, j + 1) + 1 : Math.max(at(rows, i + 1, j), at(rows, i, j + 1))
    }
  }
  return rows
}

function at(rows: readonly Uint16Array[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0
}

function joined(parts: readonly Omit<Part, 'key'>[]): Part[] {
  const whole: Part[] = []
  for (const { kind, text } of parts) {
    const last = whole.at(-1)
    if (last?.kind === kind) whole[whole.length - 1] = { ...last, text: last.text + text }
    else whole.push({ kind, text, key: String(whole.length) })
  }
  return whole
}
