import pdfmake, { type Content, type Definition, type Margin } from 'pdfmake'
import {
  detailsOf,
  isRightToLeft,
  paperSize,
  places,
  senderLine,
  urlOfSource,
  type Block,
  type DigitalSource,
  type LetterDocument,
  type Span,
} from '../document.ts'
import { readMarkdown } from '../markdown.ts'
import { escapeMetadata } from './pdf-metadata.ts'
import { columnOf, ink, mm, pageSizeOf, placed, soft, addressWidth, senderOf } from './pdf-parts.ts'
import { charactersWithoutFont, inFonts, withoutMarks } from './pdf-text.ts'
import { splitSignOff, type SignOff } from '../sign-off.ts'

const size = 10.5

/** The characters of a letter that the fonts of PDF files lack, each once. */
export function missingCharacters(letter: LetterDocument): string[] {
  const { letterhead, recipient, date, subject, text, closing, author, notice } = letter
  return charactersWithoutFont([
    senderLine(letterhead),
    ...detailsOf(letterhead),
    ...recipient,
    date,
    subject,
    text,
    closing,
    author,
    notice,
  ])
}

/** Writes a letter as PDF. Its fonts must have all characters: see `missingCharacters`. */
export async function writePdf(letter: LetterDocument): Promise<Uint8Array> {
  const made = pdfmake.createPdf(definitionOf(letter))
  const pdf = await made.getStream()
  escapeMetadata(pdf)
  if (letter.source !== undefined) pdf.appendXML(markOf(letter.source))
  return made.getBuffer()
}

/** The mark of generated text in the XMP metadata (IPTC Extension). */
const markOf = (source: DigitalSource) => `
<rdf:Description rdf:about="" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">
  <Iptc4xmpExt:DigitalSourceType>${urlOfSource(source)}</Iptc4xmpExt:DigitalSourceType>
</rdf:Description>`

function definitionOf(letter: LetterDocument): Definition {
  const { letterhead, subject, language, paper } = letter
  const { body, signOff } = splitSignOff(readMarkdown(letter.text), letter)
  return {
    info: { title: withoutMarks(subject), author: withoutMarks(letterhead.name ?? letter.author), creator: 'Tollgate' },
    version: '1.7',
    language,
    pageSize: pageSizeOf(paper),
    pageMargins: [mm(places.left), mm(places.top), mm(places.right), mm(places.bottom)],
    defaultStyle: { font: 'Serif', fontSize: size, lineHeight: 1.25, color: ink },
    content: [
      ...headOf(letter),
      {
        text: inFonts([{ text: subject }], { follows: true }),
        bold: true,
        fontSize: 11.5,
        margin: [0, mm(places.subject - places.top), 0, mm(6)],
      },
      ...contentsOf(body),
      signOffOf(signOff),
      ...(letter.notice === '' ? [] : [noticeOf(letter.notice)]),
    ],
    footer: (page, pages) =>
      page === 1
        ? ''
        : { text: `${page} / ${pages}`, alignment: 'center', fontSize: 8.5, color: soft, margin: [0, mm(9), 0, 0] },
  }
}

/** The letterhead, the address and the date, each in its place. They take no room of the text. */
function headOf({ letterhead, recipient, date, paper }: LetterDocument): Content[] {
  const [width] = paperSize[paper]
  const details = width - places.right - places.details
  return [
    placed(
      columnOf([letterhead.name ?? ''], places.details - places.left - 5, { fontSize: 17, bold: true }),
      places.left,
      places.head,
    ),
    placed(columnOf(detailsOf(letterhead), details, { fontSize: 8.5, color: soft }), places.details, places.head + 1),
    senderOf(letterhead),
    placed(columnOf(recipient, addressWidth, { lineHeight: 1.15 }), places.left, places.recipient),
    placed(columnOf([date], details, {}), places.details, places.date),
  ]
}

function contentsOf(blocks: readonly Block[]): Content[] {
  return blocks.flatMap((block, index): Content[] => {
    const [before, after] = [blocks[index - 1], blocks[index + 1]]
    if (before?.kind === 'heading' && isShort(block)) return []
    if (block.kind !== 'heading' || after === undefined || !isShort(after)) return contentOf(block)
    // A heading stays with what it is above.
    return [{ stack: [...contentOf(block), ...contentOf(after)], unbreakable: true }]
  })
}

/** Whether it can stay together on a page. */
function isShort(block: Block): boolean {
  return block.kind === 'paragraph' && lengthOf(block.spans) < 1000
}

const lengthOf = (spans: readonly Span[]) => spans.reduce((sum, { text }) => sum + text.length, 0)

const between = mm(2.6)

function contentOf(block: Block): Content[] {
  switch (block.kind) {
    case 'paragraph':
      return paragraphOf(block.spans)
    case 'heading':
      return [
        {
          text: runsOf(block.spans),
          bold: true,
          fontSize: { 1: 13, 2: 11.5, 3: size }[block.depth],
          margin: [0, mm(1.5), 0, mm(1.5)],
        },
      ]
    case 'quote':
      return [
        {
          layout: {
            hLineWidth: () => 0,
            vLineWidth: (column: number) => (column === 0 ? 1.5 : 0),
            vLineColor: () => '#c3cbd1',
          },
          table: { widths: ['*'], body: [[{ stack: contentsOf(block.blocks), margin: [mm(2), 0, 0, -between] }]] },
          margin: [0, 0, 0, between + 2],
        },
      ]
    case 'list': {
      if (isFromRight(block)) return listFromRight(block)
      const items = block.items.map((item) => ({ stack: contentsOf(item), margin: [0, 0, 0, -mm(1.6)] as Margin }))
      const margin: Margin = [mm(2), 0, 0, between + mm(1)]
      return [block.first === undefined ? { ul: items, margin } : { ol: items, start: block.first, margin }]
    }
  }
}

type List = Extract<Block, { kind: 'list' }>

const isFromRight = ({ items }: List) => {
  const first = items[0]?.[0]
  return first?.kind === 'paragraph' && isRightToLeft(first.spans.map(({ text }) => text).join(''))
}

/** A list with its bullets or numbers at the right, which pdfmake does not have. */
function listFromRight({ items, first }: List): Content[] {
  return [
    ...items.map((item, index) => ({
      columns: [
        { width: '*' as const, stack: contentsOf(item) },
        { width: mm(7), text: first === undefined ? '•' : `.${first + index}`, alignment: 'right' as const },
      ],
      margin: [0, 0, 0, -mm(1.6)] as Margin,
    })),
    { text: '', margin: [0, 0, 0, between + mm(1)] },
  ]
}

/** The time to fit text to lines grows with the square of its length. A long paragraph is laid out in parts. */
const mostAtOnce = 5000

function paragraphOf(spans: readonly Span[]): Content[] {
  if (lengthOf(spans) <= mostAtOnce) return [{ text: runsOf(spans), margin: [0, 0, 0, between] }]
  const parts = spans.flatMap(({ text, ...look }) =>
    partsOf(text).map((part) => ({ text: runsOf([{ text: part, ...look }]) })),
  )
  return [{ stack: parts, margin: [0, 0, 0, between] }]
}

/** Divides a text, at the end of a line or at least of a word if there is one. */
function partsOf(text: string): string[] {
  const parts = text.match(/[^]{1,5000}(?:\n|$)|[^]{1,5000}\s|[^]{1,5000}/g) ?? []
  return parts.map((part) => part.replace(/\n$/, ''))
}

function runsOf(spans: readonly Span[]): Content[] {
  const parts = spans.flatMap(({ text, isStrong, isEmphasized, link }) => {
    const look = {
      ...(isStrong && { bold: true }),
      ...(isEmphasized && { italics: true }),
      ...(link !== undefined && { link, color: '#1f5f8b' }),
    }
    return text
      .split(longWord)
      .map((part, index) => ({ text: part, ...look, ...(index % 2 === 1 && { wordBreak: 'break-all' as const }) }))
  })
  return inFonts(parts, { follows: true })
}

/**
 * Fitting a word to its lines takes time that grows with the square of its length. It is broken anywhere instead, between
 * characters of one unit (UTF-16). Those of other scripts are broken where their fonts are chosen.
 */
const longWord = /((?:(?![\p{Lo}\p{M}\s])[^\u{10000}-\u{10ffff}]){200,})/u

const noticeOf = (notice: string): Content => ({
  text: inFonts([{ text: notice }], { follows: true }),
  fontSize: 8.5,
  color: soft,
  margin: [0, mm(8), 0, 0],
})

/** The closing, room for a signature, and the name, on one page. */
function signOffOf({ closing, names }: SignOff): Content {
  return {
    unbreakable: true,
    margin: [0, mm(3), 0, 0],
    stack: [
      { text: inFonts([{ text: closing }], { follows: true }), margin: [0, 0, 0, mm(14)] },
      ...names.map((name) => ({ text: inFonts([{ text: name }], { follows: true }) })),
    ],
  }
}
