/** A piece of a grammar in GBNF, the notation of llama.cpp, that can stand anywhere in a sequence. */
export interface Expression {
  readonly text: string
  /**
   * The most ways in which llama.cpp can have to read a beginning at the same time, about. Each costs it a look at the whole
   * vocabulary for a token.
   */
  readonly width: number
}

export const expression = (text: string, width = 1): Expression => ({ text, width })

/** A text as a literal. */
export function literal(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

/** Any of the choices, which read beginnings side by side. */
export function choiceOf(choices: readonly Expression[]): Expression {
  const texts = new Map(choices.map(({ text, width }) => [text, width]))
  const width = texts.values().reduce((sum, each) => sum + each, 0)
  return expression(oneOf([...texts.keys()]), width)
}

/** Any of the texts. */
export function oneOf(texts: readonly string[]): string {
  return texts.length === 1 ? `${texts[0]}` : `(${texts.join(' | ')})`
}
