import {
  AlignmentType,
  Document,
  ExternalHyperlink,
  Footer,
  HeightRule,
  LevelFormat,
  LineRuleType,
  Packer,
  PageNumber,
  Paragraph,
  Table,
  TableCell,
  TableLayoutType,
  TableRow,
  TextRun,
  VerticalAlign,
  WidthType,
  type IParagraphOptions,
  type ParagraphChild,
} from 'docx'
import {
  detailsOf,
  isRightToLeft,
  paperSize,
  places,
  senderLine,
  urlOfSource,
  type Block,
  type LetterDocument,
  type Span,
} from './document.ts'
import { printable, readMarkdown } from './markdown.ts'
import { splitSignOff, type SignOff } from './sign-off.ts'

/** Twentieths of a point. */
const mm = (length: number) => Math.round((length * 1440) / 25.4)
const font = 'Cambria'
const soft = '5B6871'

/** Writes a letter as a Word document (Office Open XML). */
export async function writeWord(letter: LetterDocument): Promise<Uint8Array> {
  const { letterhead, subject, language, paper } = letter
  const [width, height] = paperSize[paper]
  const { body, signOff } = splitSignOff(readMarkdown(letter.text), letter)
  const lists = createLists()
  const children = [
    headOf(letter),
    new Paragraph({
      bidirectional: isRightToLeft(subject),
      children: runsOf([{ text: subject, isStrong: true }], 23),
      spacing: { before: mm(places.subject - headEnd), after: mm(6) },
    }),
    ...body.flatMap((block) => paragraphsOf(block, { lists, level: 0, indent: 0 })),
    ...signOffOf(signOff),
    ...(letter.notice === '' ? [] : [noticeOf(letter.notice)]),
  ]
  const document = new Document({
    title: printable(subject),
    creator: printable(letterhead.name ?? letter.author),
    customProperties:
      letter.source === undefined ? [] : [{ name: 'DigitalSourceType', value: urlOfSource(letter.source) }],
    styles: { default: { document: { run: { font, size: 21, language: { value: language } } } } },
    numbering: { config: lists.config },
    sections: [
      {
        properties: {
          titlePage: true,
          page: {
            size: { width: mm(width), height: mm(height) },
            margin: { left: mm(places.left), right: mm(places.right), top: mm(places.head), bottom: mm(places.bottom) },
          },
        },
        footers: {
          first: new Footer({ children: [new Paragraph('')] }),
          default: new Footer({ children: [pageNumber()] }),
        },
        children,
      },
    ],
  })
  return Packer.toBuffer(document)
}

function pageNumber(): Paragraph {
  const children = [PageNumber.CURRENT, ' / ', PageNumber.TOTAL_PAGES]
  return new Paragraph({
    alignment: AlignmentType.CENTER,
    children: [new TextRun({ children, size: 17, color: soft })],
  })
}

/** mm from the top of the page. */
const headEnd = places.date + 6

const noBorders = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'insideHorizontal', 'insideVertical'].map((side) => [
    side,
    { style: 'none', size: 0, color: 'auto' },
  ]),
)

const lines = (texts: readonly string[], size: number, look = {}) =>
  texts.map((text) => new Paragraph({ children: runsOf([{ text }], size, look) }))

/** The letterhead, the address and the date, in a table whose rows have the height of their places. */
function headOf({ letterhead, recipient, date, paper }: LetterDocument): Table {
  const [width] = paperSize[paper]
  const columns = [places.details - places.left, width - places.right - places.details].map(mm)
  const row = (height: number, left: Paragraph[], right: Paragraph[], end = false) =>
    new TableRow({
      height: { value: mm(height), rule: HeightRule.EXACT },
      cantSplit: true,
      children: [left, right].map(
        (children, index) =>
          new TableCell({
            width: { size: columns[index] ?? 0, type: WidthType.DXA },
            verticalAlign: end && index === 1 ? VerticalAlign.BOTTOM : VerticalAlign.TOP,
            children,
          }),
      ),
    })
  const details = detailsOf(letterhead)
  const atTop = Math.min(details.length, 7)
  return new Table({
    layout: TableLayoutType.FIXED,
    width: { size: columns.reduce((sum, each) => sum + each, 0), type: WidthType.DXA },
    columnWidths: columns,
    borders: noBorders,
    margins: { left: 0, right: 0, top: 0, bottom: 0 },
    rows: [
      row(
        places.sender - places.head,
        lines([letterhead.name ?? ''], 34, { bold: true }),
        lines(details.slice(0, atTop), 16, { color: soft }),
      ),
      row(
        headEnd - places.sender,
        [...lines([senderLine(letterhead)], 13, { color: soft }), ...lines(recipient, 21)],
        lines([date], 21),
        true,
      ),
    ],
  })
}

type Lists = ReturnType<typeof createLists>

/** The indent of an item. */
const indentOf = (level: number) => ({ left: mm(7 * (level + 1)), hanging: mm(5) })
const levels = (of: (level: number) => object) => Array.from({ length: 9 }, (_, level) => ({ level, ...of(level) }))

const style = (level: number) => ({ paragraph: { indent: indentOf(level) } })

/** Each numbered list is an instance of its own, so that it begins with its own number. */
function createLists() {
  const config = [
    {
      reference: 'bullets',
      levels: levels((level) => ({ format: LevelFormat.BULLET, text: '•', style: style(level) })),
    },
  ]
  return {
    config,
    /** The name of a list that begins with this number; bullets without one. */
    add(first: number | undefined): string {
      if (first === undefined) return 'bullets'
      const reference = `numbers-${config.length}`
      config.push({
        reference,
        levels: levels((level) => ({
          format: LevelFormat.DECIMAL,
          text: `%${level + 1}.`,
          start: Math.min(first, 32_767),
          style: style(level),
        })),
      })
      return reference
    },
  }
}

interface Place {
  readonly lists: Lists
  readonly level: number
  /** In twentieths of a point. */
  readonly indent: number
}

const spacing = { after: mm(2.6), line: 288, lineRule: LineRuleType.AUTO }

function paragraphsOf(block: Block, place: Place): Paragraph[] {
  const indent = { left: place.indent }
  switch (block.kind) {
    case 'paragraph':
      return [new Paragraph({ ...directionOf(block), children: runsOf(block.spans), spacing, indent })]
    case 'heading': {
      const spans = block.spans.map((span) => ({ ...span, isStrong: true }))
      const size = { 1: 26, 2: 23, 3: 21 }[block.depth]
      const around = { before: mm(1.5), after: mm(1.5) }
      return [
        new Paragraph({
          ...directionOf(block),
          children: runsOf(spans, size),
          spacing: around,
          indent,
          keepNext: true,
        }),
      ]
    }
    case 'quote':
      return block.blocks.flatMap((each) => paragraphsOf(each, { ...place, indent: place.indent + mm(6) }))
    case 'list': {
      const reference = place.lists.add(block.first)
      return block.items.flatMap((item) => itemOf(item, reference, place))
    }
  }
}

/** The first paragraph of an item has its number, the others the same indent. */
function itemOf(blocks: readonly Block[], reference: string, place: Place): Paragraph[] {
  const level = Math.min(place.level, 8)
  const inside = { ...place, level: place.level + 1, indent: indentOf(level).left }
  const [first, ...rest] = blocks
  const numbered = (options: IParagraphOptions) =>
    new Paragraph({ ...options, numbering: { reference, level }, spacing: { ...spacing, after: mm(1) } })
  if (first?.kind !== 'paragraph') {
    return [numbered({}), ...blocks.flatMap((each) => paragraphsOf(each, inside))]
  }
  return [
    numbered({ ...directionOf(first), children: runsOf(first.spans) }),
    ...rest.flatMap((each) => paragraphsOf(each, inside)),
  ]
}

/** Word orders the words of a line by the direction of its paragraph (UAX #9). */
function directionOf({ spans }: { readonly spans: readonly Span[] }): Pick<IParagraphOptions, 'bidirectional'> {
  return { bidirectional: isRightToLeft(spans.map(({ text }) => text).join('')) }
}

/** Word takes the look of text from right to left from other properties, which apply to a run as a whole. */
const directions = /([\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]+)/u

function runsOf(
  spans: readonly Span[],
  size?: number,
  look: { bold?: boolean; color?: string } = {},
): ParagraphChild[] {
  return spans
    .map(({ text, isStrong, isEmphasized, link }) => {
      const runs = printable(text)
        .split('\n')
        .flatMap((line, index) =>
          line.split(directions).flatMap((part, place) =>
            part === '' && place > 0
              ? []
              : [
                  new TextRun({
                    ...look,
                    text: part,
                    ...(place % 2 === 1 && { rightToLeft: true }),
                    ...(index > 0 && place === 0 && { break: 1 }),
                    ...(isStrong && { bold: true }),
                    ...(isEmphasized && { italics: true }),
                    ...(link !== undefined && { color: '1F5F8B' }),
                    ...(size !== undefined && { size }),
                  }),
                ],
          ),
        )
      return link === undefined ? runs : [new ExternalHyperlink({ link, children: runs })]
    })
    .flat()
}

const noticeOf = (notice: string): Paragraph =>
  new Paragraph({
    ...directionOf({ spans: [{ text: notice }] }),
    children: runsOf([{ text: notice }], 17, { color: soft }),
    spacing: { before: mm(8) },
  })

function signOffOf({ closing, names }: SignOff): Paragraph[] {
  const line = (text: string, after: number, keepNext: boolean) =>
    new Paragraph({
      ...directionOf({ spans: [{ text }] }),
      children: runsOf([{ text }]),
      spacing: { after: mm(after) },
      keepNext,
    })
  return [
    new Paragraph({ children: [], keepNext: true, spacing: { after: 0, line: mm(3), lineRule: LineRuleType.EXACT } }),
    line(closing, 14, true),
    ...names.map((name, index) => line(name, 0, index < names.length - 1)),
  ]
}
