/** The part of the package that is used; its own types import files without their extensions. */
declare module '@huggingface/tokenizers' {
  export class Tokenizer {
    constructor(tokenizer: object, config: object)
    encode(text: string, options?: { add_special_tokens?: boolean }): { readonly ids: readonly number[] }
  }
}
