import { expression, literal, type Expression } from './expression.ts'

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
