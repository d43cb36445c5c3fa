/** Numbers as people write them. Which mark separates decimals depends on the writer, so a text can have several readings. */

const written = /\d+(?:[.,'’\u00a0\u202f ]\d+)*/

const scales: ReadonlyMap<string, number> = new Map([
  ['k', 3],
  ['thousand', 3],
  ['m', 6],
  ['million', 6],
  ['mio', 6],
  ['bn', 9],
  ['billion', 9],
])

/** A number, and what multiplies it, if that follows. */
export const numberPattern = new RegExp(
  `${written.source}(?:[\\u00a0 ]?(?:${[...scales.keys()].join('|')})(?![\\p{L}\\p{M}]))?`,
  'giu',
)

/** Digits alone, in groups of three, or with decimals. */
const parts = /^(?<whole>[\d.,'’\u00a0\u202f ]*?)(?<scale>[a-z]*)$/iu

/**
 * The values that a text found by `numberPattern` can have, as decimal numbers without needless zeros: `4,120` is 4120, or 4.12. A number
 * whose digits are not in groups of three is several numbers.
 */
export function readingsOf(text: string): string[] {
  const { whole = '', scale = '' } = parts.exec(text)?.groups ?? {}
  const power = scales.get(scale.toLowerCase()) ?? 0
  const values = valuesOf(whole.trim())
  return power === 0 ? values : values.map((value) => scaled(value, power))
}

function valuesOf(text: string): string[] {
  const groups = text.split(/[.,'’\u00a0\u202f ]/)
  const marks: readonly string[] = text.match(/[.,'’\u00a0\u202f ]/g) ?? []
  const [first = ''] = groups
  if (marks.length === 0) return [plain(first, '')]
  const last = groups.at(-1) ?? ''
  const values: string[] = []
  const isGrouped = (some: readonly string[]) => first.length <= 3 && some.every((group) => group.length === 3)
  if (isGrouped(groups.slice(1)) && new Set(marks).size === 1) values.push(plain(groups.join(''), ''))
  const mark = marks.at(-1) ?? ''
  const isDecimal = /[.,]/.test(mark) && marks.indexOf(mark) === marks.length - 1
  if (isDecimal && (marks.length === 1 || (isGrouped(groups.slice(1, -1)) && new Set(marks.slice(0, -1)).size === 1))) {
    values.push(plain(groups.slice(0, -1).join(''), last))
  }
  return values.length > 0 ? values : groups.map((group) => plain(group, ''))
}

function plain(whole: string, decimals: string): string {
  const fraction = decimals.replace(/0+$/, '')
  return (whole.replace(/^0+(?=\d)/, '') || '0') + (fraction === '' ? '' : `.${fraction}`)
}

function scaled(value: string, power: number): string {
  const [whole = '', fraction = ''] = value.split('.')
  const digits = fraction.padEnd(power, '0')
  return plain(whole + digits.slice(0, power), digits.slice(power))
}

/** English numbers that are usually written as words, by their digits. */
const words = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']

/** The value of a word, or undefined. */
export function valueOfWord(word: string): string | undefined {
  const at = words.indexOf(word.toLowerCase())
  return at < 0 ? undefined : String(at + 2)
}
