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

/** Exactly these JSON values. Common beginnings are written once: the model then has few ways to go on. */
export function literalsOf(values: readonly unknown[]): Expression {
  const texts = new Set(values.map((value) => JSON.stringify(value)))
  return tree([...texts].map((text) => Array.from(text)))
}

/** @param texts different texts, each by its characters */
function tree(texts: readonly (readonly string[])[]): Expression {
  const branches = [
    ...Map.groupBy(
      texts.filter(({ length }) => length > 0),
      ([first]) => first,
    ).values(),
  ].map(branch)
  if (branches.length === 0) return expression('')
  const text = branches.map((each) => each.text).join(' | ')
  const isComplete = texts.some(({ length }) => length === 0)
  const isSimple = branches.length === 1 && !isComplete
  const width = Math.max(branches.length + Number(isComplete), ...branches.map((each) => each.width))
  return expression(isSimple ? text : `(${text})${isComplete ? '?' : ''}`, width)
}

/** Texts with the same first character. */
function branch(texts: readonly (readonly string[])[]): Expression {
  const [first = []] = texts
  let shared = 1
  while (shared < first.length && texts.every((each) => each[shared] === first[shared])) shared += 1
  const rest = tree(texts.map((each) => each.slice(shared)))
  const beginning = literal(first.slice(0, shared).join(''))
  return expression(rest.text === '' ? beginning : `${beginning} ${rest.text}`, rest.width)
}
