/** A word in any language, with its accents. */
const word = /[\p{L}\p{N}\p{M}]+/gu

/** Letters that have no accent to remove, by their plain spelling. */
const plainSpellings: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ı: 'i',
  ß: 'ss',
  þ: 'th',
  æ: 'a',
  œ: 'o',
}

/** Folds case, accents and spellings, as `beginnings()` in migrations/0055_spellings.sql takes them for the same. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[łøđðıßþæœ]/g, (letter) => plainSpellings[letter] ?? letter)
    .replace(/([aou])e|aa/g, (pair) => pair[0] ?? '')
}

/** The characters shown on each side of a match. */
const around = 80
const ellipsis = '…'

/** Private-use characters that enclose each match. They are removed from the text itself, so that nobody can forge them. */
const [start, end] = ['\u{e000}', '\u{e001}']

/** The number of query words that a snippet marks. It bounds the work per text. */
const maxMarkedWords = 16

/** The part of the text around the first match; the beginning of the text without a match. */
export function snippetOf(text: string, q: string): string {
  const found = hits(text, new Set([...folded(q).matchAll(word)].map(([each]) => each)))
  const first = found[0]?.index ?? 0
  const [from, to] = [first <= around ? 0 : wordAfter(text, first - around), wordBefore(text, first + 2 * around)]
  let [snippet, at] = [from > 0 ? ellipsis : '', from]
  for (const { index, 0: each } of found) {
    if (index >= to) break
    snippet += `${plain(text.slice(at, index))}${start}${each}${end}`
    at = index + each.length
  }
  return `${snippet}${plain(text.slice(at, Math.max(at, to)))}${to < text.length ? ellipsis : ''}`
}

/** The first match, and further matches close to it. */
function hits(text: string, query: ReadonlySet<string>): RegExpExecArray[] {
  const wanted = [...query].slice(0, maxMarkedWords)
  const found: RegExpExecArray[] = []
  for (const match of text.matchAll(word)) {
    if (found[0] && match.index > found[0].index + 2 * around) break
    const each = folded(match[0])
    if (wanted.some((begin) => each.startsWith(begin))) found.push(match)
  }
  return found
}

/** In one line, without the signs of Markdown. */
function plain(text: string): string {
  return text
    .replace(/[\u{e000}\u{e001}]/gu, '')
    .replace(/^(?:#{1,6}|>|[-*]) +|\*\*|`/gm, '')
    .replace(/\s+/g, ' ')
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
