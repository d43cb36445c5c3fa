import { fileURLToPath } from 'node:url'
import { openSync } from 'fontkit'
import pdfmake, { type Content, type Look } from 'pdfmake'
import { paperSize, places, senderLine, type Letterhead, type Paper } from './document.ts'
import { printable } from './markdown.ts'

/** What the PDF files of letters and invoices share: their fonts, colours and measures. */

const font = (name: string) =>
  fileURLToPath(import.meta.resolve(`@expo-google-fonts/source-serif-4/${name}/SourceSerif4_${name}.ttf`))

/** All four have the same characters. */
const serif = {
  normal: font('400Regular'),
  italics: font('400Regular_Italic'),
  bold: font('600SemiBold'),
  bolditalics: font('600SemiBold_Italic'),
}

pdfmake.setFonts({ Serif: serif })
pdfmake.setUrlAccessPolicy(() => false)
pdfmake.setLocalAccessPolicy((file) => Object.values(serif).includes(file))

const normal = openSync(serif.normal)
const known = new Set(normal.characterSet)

/** The characters of some texts that the fonts lack, each once. */
export function charactersWithoutFont(texts: readonly string[]): string[] {
  const characters = new Set(texts.flatMap((text) => Array.from(inFont(text))))
  return [...characters].filter((character) => character !== '\n' && !known.has(character.codePointAt(0) ?? 0))
}

/** The text in characters of the fonts, as far as they have an equivalent. Marks that are not visible are left out. */
export function inFont(text: string): string {
  return printable(text)
    .replaceAll(/[\p{Cf}\p{Variation_Selector}]/gu, '')
    .replaceAll('\u2011', '-')
}

export const mm = (length: number): number => (length * 72) / 25.4
export const ink = '#1c2b36'
export const soft = '#5b6871'

export function pageSizeOf(paper: Paper): { readonly width: number; readonly height: number } {
  const [width, height] = paperSize[paper]
  return { width: mm(width), height: mm(height) }
}

const at = (x: number, y: number) => ({ absolutePosition: { x: mm(x), y: mm(y) } })

/** Lines in a column of a width in mm. A table keeps long lines within it. */
export function columnOf(lines: readonly string[], room: number, look: Look): Content {
  return {
    layout: 'noBorders',
    table: { widths: [mm(room)], body: [[{ stack: lines.map((line) => ({ text: inFont(line), ...look })) }]] },
  }
}

/** Content at a place in mm from the left and top edges. It takes no room of the text. */
export const placed = (content: Content, x: number, y: number): Content => ({ stack: [content], ...at(x, y) })

/** The width of an address in mm, as the window of an envelope shows it. */
export const addressWidth = 85

/** The sender above the recipient. A long one is smaller, and if need be in lines close together: the recipient's name is right below. */
export function senderOf(letterhead: Letterhead): Content {
  const line = senderLine(letterhead)
  const fontSize = senderSizes.find((size) => widthOf(line, size) <= mm(addressWidth))
  const look = fontSize === undefined ? { fontSize: smallestSender, lineHeight: 0.9 } : { fontSize }
  return placed(columnOf([line], addressWidth, { ...look, color: soft }), places.left, places.sender)
}

const smallestSender = 5
const senderSizes = [6.5, 6, 5.5, smallestSender]

/** The width of a line in points. */
const widthOf = (text: string, size: number) => (normal.layout(inFont(text)).advanceWidth / normal.unitsPerEm) * size
