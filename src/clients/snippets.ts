/** A word of any language with its accents, and where it stands. */
const word = /[\p{L}\p{N}\p{M}]+/gu

/** A word as the search compares it: `words` in migrations/0004_records.sql does the same. */
function folded(text: string): string {
  if (/^[\p{ASCII}]*$/u.test(text)) return text.toLowerCase()
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
}

/** What stands around a found word, and what is put in its place where the text goes on. */
const around = 80
const more = '…'

/** Found words stand between two characters of Unicode's private use, so that no text of a person can imitate them. */
const [start, end] = ['\u{e000}', '\u{e001}']

/** Words of a query that are shown in what it found: nobody types more, and each costs time on every text. */
const mostWanted = 16

/** The part of a text where words begin with those that are looked for; its beginning where none does. */
export function snippetOf(text: string, q: string): string {
  const found = hits(text, new Set([...folded(q).matchAll(word)].map(([each]) => each)))
  const first = found[0]?.index ?? 0
  const [from, to] = [first <= around ? 0 : wordAfter(text, first - around), wordBefore(text, first + 2 * around)]
  let [snippet, at] = [from > 0 ? more : '', from]
  for (const { index, 0: each } of found) {
    if (index >= to) break
    snippet += `${plain(text.slice(at, index))}${start}${each}${end}`
    at = index + each.length
  }
  return `${snippet}${plain(text.slice(at, Math.max(at, to)))}${to < text.length ? more : ''}`
}

/** The first word that begins with one that is wanted, and those that may be shown with it. */
function hits(text: string, query: ReadonlySet<string>): RegExpExecArray[] {
  const wanted = [...query].slice(0, mostWanted)
  const found: RegExpExecArray[] = []
  for (const match of text.matchAll(word)) {
    if (found[0] && match.index > found[0].index + 2 * around) break
    const each = folded(match[0])
    if (wanted.some((begin) => each.startsWith(begin))) found.push(match)
  }
  return found
}

function plain(text: string): string {
  return text.replace(/[\u{e000}\u{e001}]/gu, '').replace(/\s+/g, ' ')
}

function wordAfter(text: string, index: number): number {
  const space = text.indexOf(' ', index)
  return space < 0 || space > index + around ? index : space + 1
}

function wordBefore(text: string, index: number): number {
  if (index >= text.length) return text.length
  const space = text.lastIndexOf(' ', index)
  return space < index - around ? index : space
}
