type Range = readonly [first: number, last: number]

/**
 * The characters that a JSON string contains without an escape. Only positive classes exclude what is no character: in its
 * bytes, llama.cpp reads code points beyond the last one, and halves of surrogate pairs.
 */
const plain: readonly Range[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0xd7ff],
  [0xe000, 0x10ffff],
]

/** The class of all plain characters but these. */
export function plainExcept(characters: Iterable<string>): string {
  const ranges = [...characters].reduce(without, plain)
  return `[${ranges.map(([first, last]) => `${escaped(first)}-${escaped(last)}`).join('')}]`
}

export function isPlain(character: string): boolean {
  const code = codeOf(character)
  return plain.some(([first, last]) => first <= code && code <= last)
}

function without(ranges: readonly Range[], character: string): readonly Range[] {
  const code = codeOf(character)
  return ranges.flatMap(([first, last]): readonly Range[] => {
    if (code < first || code > last) return [[first, last]]
    const rest: readonly Range[] = [
      [first, code - 1],
      [code + 1, last],
    ]
    return rest.filter(([from, to]) => from <= to)
  })
}

const codeOf = (character: string): number => character.codePointAt(0) ?? 0
const escaped = (code: number): string => String.raw`\U${code.toString(16).padStart(8, '0')}`
