/** Text with one look. A line break is `\n`. */
export interface Span {
  readonly text: string
  readonly isStrong?: boolean
  readonly isEmphasized?: boolean
  /** An http, https or mailto URL. */
  readonly link?: string
}

/** A part of a document, as it is read from Markdown and written to every kind of file. */
export type Block =
  | { readonly kind: 'paragraph'; readonly spans: readonly Span[] }
  | { readonly kind: 'heading'; readonly depth: 1 | 2 | 3; readonly spans: readonly Span[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly kind: 'list'
      /** The number of the first item; undefined for bullets. */
      readonly first: number | undefined
      readonly items: readonly (readonly Block[])[]
    }

/** The sender of a document, as the configuration describes the firm. */
export interface Letterhead {
  readonly name?: string | undefined
  /** The lines of its postal address. */
  readonly address: readonly string[]
  readonly phone?: string | undefined
  readonly email?: string | undefined
  readonly website?: string | undefined
}

/** A letter, ready to be written to a file. */
export interface LetterDocument {
  readonly letterhead: Letterhead
  /** The name and the lines of the address. */
  readonly recipient: readonly string[]
  /** As the letter shows it. */
  readonly date: string
  readonly subject: string
  /** Markdown. */
  readonly text: string
  /** The words above the signature, for a text that does not end with them. */
  readonly closing: string
  /** The name below the signature. */
  readonly author: string
  /** A BCP 47 language tag. */
  readonly language: string
  readonly paper: Paper
  /** How a model took part in the text, if one did: a digital source type of the IPTC. */
  readonly source: DigitalSource | undefined
  /** The sentence in words that says so, below the signature; or empty. */
  readonly notice: string
}

/** Written by a model, or by people and a model. */
export type DigitalSource = 'trainedAlgorithmicMedia' | 'compositeWithTrainedAlgorithmicMedia'

/** The URL by which programs know a digital source type (IPTC NewsCodes). */
export const urlOfSource = (source: DigitalSource): string => `http://cv.iptc.org/newscodes/digitalsourcetype/${source}`

export type Paper = 'A4' | 'Letter'

/** The kinds of files that a letter can be written to. */
export type FileFormat = 'pdf' | 'docx' | 'html'

const countriesOfLetter = new Set(['US', 'CA', 'MX', 'PH', 'CL', 'CO', 'VE', 'PR'])

/** The paper that a country writes on, by a locale such as `en-US`. */
export function paperOf(locale: string): Paper {
  return countriesOfLetter.has(new Intl.Locale(locale).maximize().region ?? '') ? 'Letter' : 'A4'
}

/** The width and height of paper in mm. */
export const paperSize: Readonly<Record<Paper, readonly [width: number, height: number]>> = {
  A4: [210, 297],
  Letter: [215.9, 279.4],
}

/**
 * The places of a letter on its paper, in mm from the left and top edges. The address is where the windows of envelopes
 * show it (DIN 5008 form B, ISO 11180).
 */
export const places = {
  left: 25,
  right: 25,
  top: 25,
  bottom: 25,
  head: 18,
  /** The sender's details and the date. */
  details: 130,
  /** The sender in one line above the recipient. */
  sender: 46,
  recipient: 51,
  date: 92,
  subject: 104,
} as const

/** The sender in one line, for the window of an envelope. */
export function senderLine({ name, address }: Letterhead): string {
  return [name, ...address].filter((part) => part !== undefined).join(' · ')
}

/** The lines beside the sender's name: its address and how to reach it. */
export function detailsOf({ address, phone, email, website }: Letterhead): readonly string[] {
  return [...address, ...[phone, email, website].filter((line) => line !== undefined)]
}

/** Whether a text is written from right to left, by its first letter (UAX #9, P2). */
export function isRightToLeft(text: string): boolean {
  return /^\P{L}*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(text)
}
