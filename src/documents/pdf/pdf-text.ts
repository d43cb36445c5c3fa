import type { Look, Run } from 'pdfmake'
import { printable } from '../markdown.ts'
import { featuresOff, fontFor, isInMainFont, widthIn } from './pdf-fonts.ts'
import { bidi } from './pdf-lines.ts'

/** A text with one look, of which a paragraph may have several. */
export type StyledPart = Look & { readonly text: string }

/** The characters of some texts that no font has, each once. */
export function charactersWithoutFont(texts: readonly string[]): string[] {
  const characters = new Set(texts.flatMap((text) => Array.from(withoutMarks(text))))
  return [...characters].filter((character) => character !== '\n' && fontFor(character) === undefined)
}

/** The text with its fonts. */
export function inFont(text: string): string | Run[] {
  const plain = withoutMarks(text)
  return isInMainFont(plain) ? plain : inFonts([{ text }])
}

/** Parts of a paragraph with their fonts. Its lines are at the right if it is written from right to left and `follows` that. */
export function inFonts(parts: readonly StyledPart[], { follows = false } = {}): Run[] {
  const plain = parts.map((part) => ({ ...part, text: withoutMarks(part.text) }))
  return plain.every(({ text }) => isInMainFont(text)) ? plain : runsOf(parts, follows)
}

/** The width of a line in points. */
export function widthOf(text: string, size: number): number {
  return inFonts([{ text }]).reduce((sum, run) => sum + widthIn(run.text, run.font, size), 0)
}

/** The text in characters that fonts have, as far as they have an equivalent, without marks that are not visible. */
export function withoutMarks(text: string): string {
  return printable(text).replaceAll(invisible, '').replaceAll('\u2011', '-')
}

const invisible = /[\p{Cf}\p{Variation_Selector}]/gu
const isInvisible = /^[\p{Cf}\p{Variation_Selector}]$/u
/** Marks that letters beside them, or the end of a line, depend on: breaks, and joiners of letters and emoji. */
const isNeeded = /^[\u200b-\u200d]$/

/** Divides parts into runs of one font and one direction. */
function runsOf(parts: readonly StyledPart[], follows: boolean): Run[] {
  const texts = parts.map(({ text }) => breakable(printable(text).replaceAll('\u2011', '-')))
  const whole = texts.join('')
  const { levels, paragraphs } = bidi.getEmbeddingLevels(whole)
  const runs: Run[] = []
  let at = 0
  for (const [index, text] of texts.entries()) {
    let run: Run | undefined
    for (const character of text) {
      const level = levels[at] ?? 0
      const before = run ?? runs.at(-1)
      const font = isNeeded.test(character) || character === '\n' ? before?.font : fontFor(character, before?.font)
      if (!isInvisible.test(character) || (isNeeded.test(character) && font !== undefined)) {
        if (run !== undefined && run.font === font && run.level === level) run.text += character
        else {
          const base = paragraphs.find(({ start, end }) => start <= at && at <= end)?.level ?? 0
          const side: Look = follows && base % 2 === 1 ? { alignment: 'right' } : {}
          run = { ...parts[index], ...side, text: character, level, ...(font !== undefined && { font }) }
          runs.push(run)
        }
      }
      at += character.length
    }
  }
  return runs.map((run) => ({ ...run, ...featuresFor(run) }))
}

/** With features of its own, pdfkit lays out a text whole, as those from right to left need it, and not word by word. */
function featuresFor({ text, font, level = 0 }: Run): Pick<Run, 'fontFeatures'> {
  const off = font === undefined ? undefined : featuresOff(text, font)
  return off === undefined && level % 2 === 0 ? {} : { fontFeatures: off ?? [] }
}

const segmenter = new Intl.Segmenter('th', { granularity: 'word' })

/** The text with marks where a line can end, in scripts without spaces between words and in very long words. */
function breakable(text: string): string {
  return text
    .replaceAll(/[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]{2,}/gu, (run) =>
      Array.from(segmenter.segment(run), ({ segment }) => segment).join('\u200b'),
    )
    .replaceAll(/(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{Lo}\p{M}]){100}/gu, '$&\u200b')
}
