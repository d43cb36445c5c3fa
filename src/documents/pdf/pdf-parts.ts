import type { Content, Look } from 'pdfmake'
import { paperSize, places, senderLine, type Letterhead, type Paper } from '../document.ts'
import { inFont, widthOf } from './pdf-text.ts'

/** The colours and measures that the PDF files of letters and invoices share. */

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
