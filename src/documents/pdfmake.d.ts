/** The part of the package that is used; its own types bring those of browsers with them. */
declare module 'pdfmake' {
  export type Margin = [left: number, top: number, right: number, bottom: number]

  export interface Look {
    font?: string
    fontSize?: number
    lineHeight?: number
    color?: string
    bold?: boolean
    italics?: boolean
    alignment?: 'left' | 'center' | 'right'
    margin?: Margin
    link?: string
    wordBreak?: 'break-all'
    absolutePosition?: { x: number; y: number }
    unbreakable?: boolean
    noWrap?: boolean
    fontFeatures?: readonly string[] | Readonly<Record<string, boolean>>
  }

  /** A part of a text in one font and one direction. */
  export type Run = Look & {
    text: string
    /** Its embedding level (UAX #9): odd from right to left. */
    level?: number
  }

  export interface Table {
    widths: (number | '*' | 'auto')[]
    heights?: number[]
    headerRows?: number
    dontBreakRows?: boolean
    body: Content[][]
  }

  interface TableNode {
    table: Table
  }

  export interface TableLayout {
    hLineWidth?: (row: number, node: TableNode) => number
    hLineColor?: (row: number) => string
    vLineWidth?: (column: number) => number
    vLineColor?: () => string
    paddingLeft?: (column: number) => number
    paddingRight?: (column: number, node: TableNode) => number
    paddingTop?: (row: number) => number
    paddingBottom?: (row: number) => number
  }

  export type Content =
    | string
    | (Look & { text: string | Content[] })
    | (Look & { stack: Content[] })
    | (Look & { ul: Content[] })
    | (Look & { ol: Content[]; start?: number })
    | (Look & { columns: (Content & { width?: number | '*' | 'auto' })[]; columnGap?: number })
    | (Look & { svg: string; width: number })
    | (Look & { table: Table; layout?: 'noBorders' | TableLayout })

  export interface Definition {
    info?: { title?: string; author?: string; creator?: string; producer?: string; creationDate?: Date }
    version?: '1.7'
    subset?: 'PDF/A-3b'
    displayTitle?: boolean
    /** Embedded files, each as a data URL. */
    files?: Record<string, EmbeddedFile>
    watermark?: { text: string; font: string; bold: boolean; color: string; opacity: number; angle: number }
    language?: string
    pageSize: { width: number; height: number }
    pageMargins: Margin
    defaultStyle: Look
    content: Content[]
    footer?: (page: number, pages: number) => Content
  }

  export interface EmbeddedFile {
    src: string
    type: string
    description: string
    relationship: 'Alternative'
    creationDate: Date
    modifiedDate: Date
  }

  /** The document of pdfkit. */
  export interface OpenPdf {
    /** By the names of PDF: Title, Author, CreationDate. */
    info: Record<string, string | Date>
    /** Writes the XMP metadata from `info`, after the same have been written as a dictionary. */
    endMetadata(): void
    /** Adds to its XMP metadata. */
    appendXML(xml: string): void
  }

  interface MadePdf {
    getStream(): Promise<OpenPdf>
    getBuffer(): Promise<Buffer>
  }

  interface Fonts {
    normal: string
    italics: string
    bold: string
    bolditalics: string
  }

  const pdfmake: {
    setFonts(fonts: Record<string, Fonts>): void
    setUrlAccessPolicy(allows: (url: string) => boolean): void
    setLocalAccessPolicy(allows: (file: string) => boolean): void
    createPdf(definition: Definition): MadePdf
  }
  export default pdfmake
}

declare module 'pdfmake/js/ElementWriter.js' {
  /** A word, or the part of one in a font of its own. */
  export interface Inline {
    text: string
    /** As the run that it is of. */
    readonly level?: number
    /** In points from the start of its line. */
    x: number
    width: number
  }

  export interface Line {
    readonly inlines: Inline[]
    readonly leadingCut: number
    trailingCut: number
    inlineWidths: number
  }

  /** Places lines on pages. */
  export class ElementWriter {
    alignLine: (this: ElementWriter, line: Line) => void
  }
  const exported: { readonly default: typeof ElementWriter }
  export default exported
}
