import type { Letterhead, Paper } from './document.ts'

/** An invoice in the words, dates and numbers that its paper shows, ready to be written to a PDF. */
export interface InvoicePaper {
  readonly letterhead: Letterhead
  /** The name and the lines of the address of the buyer. */
  readonly recipient: readonly string[]
  readonly title: string
  /** Pale across every page, such as `Draft`. */
  readonly mark: string | undefined
  /** What it is about, below the title: dates and numbers. */
  readonly facts: readonly PaperFact[]
  readonly headings: PaperLine
  readonly lines: readonly PaperLine[]
  /** Below the lines. The last one is what is due. */
  readonly totals: readonly PaperFact[]
  /** Sentences below the totals, such as why no tax is due. */
  readonly remarks: readonly string[]
  /** As typed, with line breaks. */
  readonly note: string
  /** How to pay; undefined if nothing is to be paid. */
  readonly payment: PaperPayment | undefined
  /** At the foot of every page. */
  readonly foot: string
  /** A BCP 47 language tag. */
  readonly language: string
  readonly paper: Paper
  /** The moment that the file states as its creation. */
  readonly createdAt: Date
  /** The invoice for programs (EN 16931), embedded in the file; undefined if it has none. */
  readonly xml: string | undefined
}

export interface PaperFact {
  readonly name: string
  readonly value: string
}

export interface PaperLine {
  readonly position: string
  readonly text: string
  readonly quantity: string
  readonly price: string
  readonly tax: string
  readonly net: string
}

export interface PaperPayment {
  readonly request: string
  readonly facts: readonly PaperFact[]
  /** The content of a QR code that banking apps read, and its caption. */
  readonly code: { readonly content: string; readonly caption: string } | undefined
}
