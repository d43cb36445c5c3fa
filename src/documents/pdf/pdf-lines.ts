import createBidi from 'bidi-js'
import writer, { type ElementWriter, type Inline, type Line } from 'pdfmake/js/ElementWriter.js'

export const bidi = createBidi()

/**
 * Orders the words of lines by their direction (UAX #9, L1 and L2), which pdfmake does not do. The letters of a word are
 * ordered and joined by the layout of its font.
 */
const { prototype } = writer.default
const { alignLine } = prototype
prototype.alignLine = function align(this: ElementWriter, line: Line) {
  if (line.inlines.some(isReversed)) arrange(line)
  alignLine.call(this, line)
}

const isReversed = ({ level = 0 }: Inline) => level % 2 === 1

function arrange(line: Line): void {
  trimEnd(line)
  let x = -line.leadingCut
  for (const inline of inOrder(line.inlines)) {
    if (isReversed(inline)) inline.text = reversed(inline.text)
    inline.x = x
    x += inline.width
  }
}

/** With mirrored brackets. A font reverses what has letters, and lays out marks alone from left to right. */
function reversed(text: string): string {
  const characters = Array.from(text, (character) => bidi.getMirroredCharacter(character) ?? character)
  return (/\p{L}/u.test(text) ? characters : characters.toReversed()).join('')
}

/** Spaces at the end of a line belong to no word: they would be in front of one that is read from right to left. */
function trimEnd(line: Line): void {
  const last = line.inlines.at(-1)
  if (last === undefined || !isReversed(last)) return
  last.text = last.text.trimEnd()
  last.width -= line.trailingCut
  line.inlineWidths -= line.trailingCut
  line.trailingCut = 0
}

/** As seen from left to right. */
function inOrder(inlines: readonly Inline[]): Inline[] {
  const highest = Math.max(...inlines.map(({ level = 0 }) => level))
  const ordered = [...inlines]
  for (let level = highest; level > 0; level--) {
    let start = 0
    while (start < ordered.length) {
      let end = start
      while ((ordered[end]?.level ?? 0) >= level) end++
      if (end > start) ordered.splice(start, end - start, ...ordered.slice(start, end).toReversed())
      start = end + 1
    }
  }
  return ordered
}
