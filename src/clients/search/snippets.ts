import { plainWords, soughtWords } from '../../platform/text/spelling.ts'

/** A word in any language, with its accents. */
const word = /[\p{L}\p{N}\p{M}]+/gu

/** The characters shown on each side of a match. */
const around = 80
const ellipsis = '…'

/** Private-use characters that enclose each match. They are removed from the text itself, so that nobody can forge them. */
const [start, end] = ['\u{e000}', '\u{e001}']

/** The number of query words that a snippet marks. It bounds the work per text. */
const maxMarkedWords = 16

/** The part of the text around the first match; the beginning of the text without a match. */
export function snippetOf(text: string, q: string): string {
  const wanted = soughtWords(q).slice(0, maxMarkedWords)
  const begun = hits(
    text,
    wanted.map(({ beginning }) => beginning),
  )
  const found =
    begun.length > 0
      ? begun
      : hits(
          text,
          wanted.flatMap(({ part }) => part ?? []),
        )
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
function hits(text: string, wanted: readonly RegExp[]): RegExpExecArray[] {
  const found: RegExpExecArray[] = []
  for (const match of text.matchAll(word)) {
    if (found[0] && match.index > found[0].index + 2 * around) break
    const each = plainWords(match[0])
    if (wanted.some((pattern) => pattern.test(each))) found.push(match)
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
