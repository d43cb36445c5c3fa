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
  }

  export interface TableLayout {
    hLineWidth?: () => number
    vLineWidth?: (column: number) => number
    vLineColor?: () => string
  }

  export type Content =
    | string
    | (Look & { text: string | Content[] })
    | (Look & { stack: Content[] })
    | (Look & { ul: Content[] })
    | (Look & { ol: Content[]; start?: number })
    | (Look & { table: { widths: (number | '*')[]; body: Content[][] }; layout?: 'noBorders' | TableLayout })

  export interface Definition {
    info?: { title?: string; author?: string; creator?: string }
    version?: '1.7'
    language?: string
    pageSize: { width: number; height: number }
    pageMargins: Margin
    defaultStyle: Look
    content: Content[]
    footer?: (page: number, pages: number) => Content
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
    createPdf(definition: Definition): { getBuffer(): Promise<Buffer> }
  }
  export default pdfmake
}
