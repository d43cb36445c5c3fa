import pdfmake, { type Content, type Definition, type Look, type TableLayout } from 'pdfmake'
import { encode } from 'uqr'
import { detailsOf, paperSize, places, senderLine } from '../document.ts'
import type { InvoicePaper, PaperFact, PaperLine, PaperPayment } from '../invoice-paper.ts'
import { embeddedName, escapeMetadata, invoiceMetadata } from './pdf-metadata.ts'
import { columnOf, ink, mm, pageSizeOf, placed, soft, addressWidth, senderOf } from './pdf-parts.ts'
import { charactersWithoutFont, inFont, inFonts, withoutMarks } from './pdf-text.ts'

/** The characters of an invoice that the fonts of PDF files lack, each once. */
export function missingInInvoice(invoice: InvoicePaper): string[] {
  const { letterhead, recipient, title, mark = '', facts, lines, totals, remarks, note, payment, foot } = invoice
  const entries = [...facts, ...totals, ...(payment?.facts ?? [])].flatMap(({ name, value }) => [name, value])
  const cells = [invoice.headings, ...lines].flatMap((line) => [
    line.text,
    line.quantity,
    line.price,
    line.tax,
    line.net,
  ])
  const texts = [senderLine(letterhead), ...detailsOf(letterhead), ...recipient, title, mark, ...remarks, note, foot]
  const asked = payment === undefined ? [] : [payment.request, payment.code?.caption ?? '']
  return charactersWithoutFont([...texts, ...entries, ...cells, ...asked])
}

/**
 * Writes an invoice as PDF/A-3b, with its XML embedded as Factur-X and ZUGFeRD demand. The same invoice is written to the
 * same bytes. The fonts must have all characters: see `missingInInvoice`.
 */
export async function writeInvoicePdf(invoice: InvoicePaper): Promise<Uint8Array> {
  const made = pdfmake.createPdf(definitionOf(invoice))
  const pdf = await made.getStream()
  escapeMetadata(pdf)
  pdf.appendXML(invoiceMetadata({ author: invoice.letterhead.name, hasXml: invoice.xml !== undefined }))
  return made.getBuffer()
}

const size = 9.5
const small = 7.5
/** mm from the top of the page. */
const titleAt = 92
/** mm at the foot of the page. */
const bottom = 22
/** All digits are equally wide, so that amounts align. */
const figures = ['tnum', 'lnum', 'kern']

function definitionOf(invoice: InvoicePaper): Definition {
  const { title, mark, note, language, paper, createdAt, foot } = invoice
  return {
    // The author is in the XMP metadata alone, so that issued invoices keep their bytes.
    info: { title: withoutMarks(title), creator: 'Tollgate', creationDate: createdAt },
    version: '1.7',
    subset: 'PDF/A-3b',
    displayTitle: true,
    language,
    ...(mark !== undefined && { watermark: { ...markLook, text: withoutMarks(mark) } }),
    files: filesOf(invoice),
    pageSize: pageSizeOf(paper),
    pageMargins: [mm(places.left), mm(places.top), mm(places.right), mm(bottom)],
    defaultStyle: { font: 'Serif', fontSize: size, lineHeight: 1.2, color: ink, fontFeatures: figures },
    content: [
      ...headOf(invoice),
      { text: inFont(title), bold: true, fontSize: 15, margin: [0, 0, 0, mm(4)] },
      factsOf(invoice.facts),
      linesOf(invoice),
      totalsOf(invoice.totals),
      ...invoice.remarks.map((remark): Content => ({ text: inFont(remark), ...quiet, margin: [0, 0, 0, 3] })),
      ...(note === ''
        ? []
        : [{ text: inFonts([{ text: note }], { follows: true }), margin: [0, mm(4), 0, 0] } satisfies Content]),
      ...(invoice.payment === undefined ? [] : [paymentOf(invoice.payment)]),
    ],
    footer: (page, pages) => ({
      margin: [mm(places.left), mm(8), mm(places.right), 0],
      columns: [
        { width: '*', text: inFont(foot), ...quiet },
        { width: 'auto', text: pages === 1 ? '' : `${page} / ${pages}`, ...quiet, alignment: 'right' },
      ],
      columnGap: mm(6),
    }),
  }
}

const quiet: Look = { fontSize: 8, color: soft }
const markLook = { font: 'Serif', bold: true, color: '#5b6871', opacity: 0.12, angle: -50 }

function filesOf({ xml, title, createdAt }: InvoicePaper): Definition['files'] & {} {
  if (xml === undefined) return {}
  return {
    [embeddedName]: {
      src: `data:text/xml;base64,${Buffer.from(xml).toString('base64')}`,
      type: 'text/xml',
      description: title,
      relationship: 'Alternative',
      creationDate: createdAt,
      modifiedDate: createdAt,
    },
  }
}

/** The letterhead in its place, and the recipient with the room that it has in letters, or more if it needs more. */
function headOf({ letterhead, recipient, paper }: InvoicePaper): Content[] {
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
    {
      layout: bare,
      margin: [0, mm(places.recipient - places.top), 0, 0],
      table: {
        widths: [mm(addressWidth)],
        heights: [mm(titleAt - places.recipient)],
        body: [[{ stack: recipient.map((line) => ({ text: inFont(line) })), fontSize: 10.5, lineHeight: 1.15 }]],
      },
    },
  ]
}

const none = () => 0
const bare: TableLayout = {
  hLineWidth: none,
  vLineWidth: none,
  paddingLeft: none,
  paddingRight: none,
  paddingTop: none,
  paddingBottom: none,
}

const factsPerRow = 4

/** Names in small letters above their values, in columns. */
function factsOf(facts: readonly PaperFact[]): Content {
  const rows = Array.from({ length: Math.ceil(facts.length / factsPerRow) }, (_, row) => {
    const own = facts.slice(row * factsPerRow, (row + 1) * factsPerRow)
    return Array.from({ length: factsPerRow }, (__, column): Content => {
      const fact = own[column]
      if (fact === undefined) return ''
      const value = { text: breakable(fact.value), margin: [0, 1, mm(3), 0] } satisfies Content
      return { stack: [{ text: inFont(fact.name), fontSize: small, color: soft }, value] }
    })
  })
  if (rows.length === 0) return ''
  const layout = { ...bare, paddingBottom: () => mm(3) }
  return { layout, table: { widths: ['*', '*', '*', '*'], body: rows }, margin: [0, 0, 0, mm(2)] }
}

const ruled: TableLayout = {
  hLineWidth: (row, { table }) => (row === 1 || row === table.body.length ? 0.8 : row === 0 ? 0 : 0.4),
  hLineColor: (row) => (row === 1 ? ink : '#d5dbdf'),
  vLineWidth: none,
  paddingLeft: (column) => (column === 0 ? 0 : mm(3)),
  paddingRight: none,
  paddingTop: () => mm(1.2),
  paddingBottom: () => mm(1.1),
}

/** The table of the lines. Its heading is repeated on every page, and no line is broken. */
function linesOf({ headings, lines }: InvoicePaper): Content {
  return {
    layout: ruled,
    table: {
      widths: ['auto', '*', 'auto', 'auto', 'auto', 'auto'],
      headerRows: 1,
      dontBreakRows: true,
      body: [rowOf(headings, { fontSize: small, color: soft }), ...lines.map((line) => rowOf(line, {}))],
    },
  }
}

function rowOf({ position, text, quantity, price, tax, net }: PaperLine, look: Look): Content[] {
  const right: Look = { ...look, alignment: 'right' }
  return [
    { text: position, color: soft, ...look },
    { text: breakable(text), ...look },
    figureOf(quantity, right),
    figureOf(price, right),
    figureOf(tax, right),
    figureOf(net, right),
  ]
}

/** The text in runs of which long words are broken anywhere. A table would grow beyond the page for a word. */
function breakable(text: string): Content[] {
  return inFonts(
    text
      .split(longWord)
      .map((part, index) => ({ text: part, ...(index % 2 === 1 && { wordBreak: 'break-all' as const }) })),
  )
}

/** Digits are grouped by spaces that do not break. The words of other scripts are broken where their fonts are chosen. */
const longWord = /((?:(?![\p{Lo}\p{M} \n])[^\u{10000}-\u{10ffff}]){20,})/u

/** A number on one line, unless it is absurdly long. */
function figureOf(text: string, look: Look): Content {
  return text.length <= 21
    ? { text: inFont(text), ...look, noWrap: true }
    : { text: inFont(text), ...look, wordBreak: 'break-all' }
}

/** At the right, the last one larger and below a line. */
function totalsOf(totals: readonly PaperFact[]): Content {
  const last = totals.length - 1
  const body = totals.map(({ name, value }, row): Content[] => {
    const look: Look = row === last ? { bold: true, fontSize: 11 } : {}
    return [
      { text: breakable(name), ...look },
      { text: inFont(value), ...look, alignment: 'right', noWrap: true },
    ]
  })
  const layout: TableLayout = {
    ...bare,
    hLineWidth: (row) => (row === last ? 0.8 : 0),
    hLineColor: () => ink,
    paddingLeft: (column) => (column === 0 ? 0 : mm(4)),
    paddingTop: (row) => mm(row === last ? 1.6 : 0.7),
    paddingBottom: () => mm(0.7),
  }
  return {
    unbreakable: true,
    margin: [0, mm(3), 0, mm(5)],
    columns: [
      { width: '*', text: '' },
      { width: mm(110), layout, table: { widths: ['*', 'auto'], body } },
    ],
  }
}

/** The request to pay and the account at the left, the code at the right, on one page. */
function paymentOf({ request, facts, code }: PaperPayment): Content {
  const rows = facts.map(({ name, value }): Content[] => [
    { text: inFont(name), color: soft },
    { text: breakable(value) },
  ])
  const layout: TableLayout = { ...bare, paddingRight: () => mm(5), paddingBottom: () => mm(0.6) }
  const left: Content[] = [
    { text: inFont(request), margin: [0, 0, 0, mm(3)] },
    ...(rows.length === 0 ? [] : [{ layout, table: { widths: ['auto' as const, '*' as const], body: rows } }]),
  ]
  return {
    unbreakable: true,
    margin: [0, mm(6), 0, 0],
    columns: [{ width: '*', stack: left }, ...(code === undefined ? [] : [{ width: mm(30), stack: codeOf(code) }])],
    columnGap: mm(8),
  }
}

function codeOf({ content, caption }: NonNullable<PaperPayment['code']>): Content[] {
  // EPC069-12: error correction M, at most version 13.
  const { data, size: modules } = encode(content, { ecc: 'M', maxVersion: 13, border: 0 })
  return [
    { svg: squaresOf(data, modules), width: mm(30) },
    { text: inFont(caption), fontSize: 6.5, color: soft, alignment: 'center', margin: [0, 3, 0, 0] },
  ]
}

/** The dark modules of a code. Their thin edge closes the gaps that viewers draw between neighbours. */
function squaresOf(rows: readonly (readonly boolean[])[], modules: number): string {
  const squares = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  const look = `fill="${ink}" stroke="${ink}" stroke-width="0.05"`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${modules} ${modules}"><path ${look} d="${squares.join('')}"/></svg>`
}
