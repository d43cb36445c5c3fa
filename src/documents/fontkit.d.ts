/** The part of the package that is used. */
declare module 'fontkit' {
  export interface Font {
    hasGlyphForCodePoint(codePoint: number): boolean
    /** The units of the size of a letter. */
    readonly unitsPerEm: number
    layout(text: string): { readonly advanceWidth: number }
  }

  export function openSync(file: string): Font
}
