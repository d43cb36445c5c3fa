/** The part of the package that is used; its own types do not match what Node imports. */
declare module 'bidi-js' {
  export interface Bidi {
    getEmbeddingLevels(text: string): {
      readonly levels: Uint8Array
      /** `start` and `end` are inclusive. */
      readonly paragraphs: readonly { readonly start: number; readonly end: number; readonly level: number }[]
    }
    getMirroredCharacter(character: string): string | null
  }

  export default function createBidi(): Bidi
}
