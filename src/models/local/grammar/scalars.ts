import { expression, oneOf, type Expression } from './expression.ts'
import type { Rules } from './rules.ts'
import { countOf, refusedSchema, type Schema } from './schema.ts'

/** The largest number with 15 digits. All of its digits are exact in a double, as are those of smaller integers. */
const largest = 999_999_999_999_999
/**
 * The choices that a bounded number has at one place: the numbers of the shortest length, of the longest and of those between,
 * and the largest number itself.
 */
const boundedWidth = 4

/** The integers within the bounds of a schema. Throws Problem `invalid_field`. */
export function integersOf(schema: Schema, place: string): Expression {
  const least = Math.max(
    Math.ceil(boundOf(schema, 'minimum', -largest, place)),
    Math.floor(boundOf(schema, 'exclusiveMinimum', -largest - 1, place)) + 1,
  )
  const most = Math.min(
    Math.floor(boundOf(schema, 'maximum', largest, place)),
    Math.ceil(boundOf(schema, 'exclusiveMaximum', largest + 1, place)) - 1,
  )
  if (most < least) throw refusedSchema(place, 'bounds that no integer satisfies')
  if (least === -largest && most === largest) return expression('integer')
  return expression(signed(least, most, between), boundedWidth)
}

/** The numbers within the bounds of a schema. Throws Problem `invalid_field` for a bound that a grammar cannot describe exactly. */
export function numbersOf(schema: Schema, place: string): Expression {
  const isPositive = schema['exclusiveMinimum'] === 0
  const exclusive = isPositive ? ['exclusiveMaximum'] : ['exclusiveMaximum', 'exclusiveMinimum']
  const refused = exclusive.find((name) => schema[name] !== undefined)
  if (refused !== undefined) {
    throw refusedSchema(`${place}.${refused}`, 'an exclusive bound of a number other than exclusiveMinimum 0')
  }
  const most = wholeBoundOf(schema, 'maximum', largest, place)
  if (isPositive) {
    if (schema['minimum'] !== undefined) throw refusedSchema(`${place}.minimum`, 'two lower bounds')
    if (most <= 0) throw refusedSchema(place, noNumber)
    return expression(oneOf(['positive-fraction', ...decimals(1, most)]), boundedWidth)
  }
  const least = wholeBoundOf(schema, 'minimum', -largest, place)
  if (most < least) throw refusedSchema(place, noNumber)
  if (least === -largest && most === largest) return expression('number')
  if (least === 0 && most === largest) return expression('unsigned')
  return expression(signed(least, most, decimals), boundedWidth)
}

const noNumber = 'bounds that no number satisfies'

type Magnitudes = (least: number, most: number) => readonly string[]

/** The numbers from `least` to `most`, from the expressions for those that are not negative. */
function signed(least: number, most: number, magnitudes: Magnitudes): string {
  const negative = least < 0 ? [`"-" ${oneOf(magnitudes(Math.max(0, -most), -least))}`] : []
  return oneOf([...negative, ...(most >= 0 ? magnitudes(Math.max(0, least), most) : [])])
}

/** The numbers from `least` to `most`, both whole: a decimal fraction is rounded to `most` or less, because `most` is exact. */
function decimals(least: number, most: number): readonly string[] {
  const below = least < most ? [`${oneOf(between(least, most - 1))} fraction?`] : []
  return [...below, `"${most}" ("." "0"{1,15})?`]
}

/** The natural numbers from `least` to `most`: those of the shortest length, of the longest, and of the lengths between. */
function between(least: number, most: number): readonly string[] {
  const [low, high] = [String(least), String(most)]
  if (low.length === high.length) return [digitsBetween(low, high)]
  const [shortest, longest] = [low.length + 1, high.length - 1]
  return [
    digitsBetween(low, '9'.repeat(low.length)),
    ...(shortest <= longest ? [`[1-9] [0-9]{${shortest - 1},${longest - 1}}`] : []),
    digitsBetween(`1${'0'.repeat(longest)}`, high),
  ]
}

/** The numbers from `low` to `high`, of the same length. */
function digitsBetween(low: string, high: string): string {
  const [from, to, length] = [Number(low[0]), Number(high[0]), low.length - 1]
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  const [zeros, nines] = ['0'.repeat(length), '9'.repeat(length)]
  if (from === to) return length === 0 ? `"${from}"` : `"${from}" ${digitsBetween(lowRest, highRest)}`
  const isWholeFrom = lowRest === zeros
  const isWholeTo = highRest === nines
  const [first, last] = [isWholeFrom ? from : from + 1, isWholeTo ? to : to - 1]
  return oneOf([
    ...(isWholeFrom ? [] : [`"${from}" ${digitsBetween(lowRest, nines)}`]),
    ...(first <= last ? [`[${first}-${last}]${length === 0 ? '' : ` [0-9]{${length}}`}`] : []),
    ...(isWholeTo ? [] : [`"${to}" ${digitsBetween(zeros, highRest)}`]),
  ])
}

function boundOf(schema: Schema, name: string, missing: number, place: string): number {
  const value = schema[name]
  if (value === undefined) return missing
  if (typeof value === 'number') return value
  throw refusedSchema(`${place}.${name}`, 'a bound that is not a number')
}

function wholeBoundOf(schema: Schema, name: string, missing: number, place: string): number {
  const value = boundOf(schema, name, missing, place)
  if (Number.isInteger(value)) return Math.max(-largest, Math.min(largest, value))
  throw refusedSchema(`${place}.${name}`, 'a bound that is not an integer')
}

/** The strings of a length or of a format. Throws Problem `invalid_field`. */
export function stringsOf(schema: Schema, place: string, rules: Rules): Expression {
  const { format, minLength, maxLength } = schema
  if (format !== undefined) return formatted(schema, place, rules)
  if (minLength === undefined && maxLength === undefined) return expression('string')
  const { least, most } = countOf(schema, 'minLength', 'maxLength', place)
  const characters = rules.repeated(expression('char'), least, most)
  return expression(`"\\"" ${characters.text} "\\""`, characters.width)
}

function formatted({ format, minLength, maxLength }: Schema, place: string, rules: Rules): Expression {
  const text = typeof format === 'string' ? formats.get(format) : undefined
  if (text === undefined) {
    throw refusedSchema(`${place}.format`, `a format other than ${[...formats.keys()].join(', ')}`)
  }
  if (minLength === undefined && maxLength === undefined) return expression(`"\\"" ${rules.named(text)} "\\""`)
  throw refusedSchema(
    `${place}.${minLength === undefined ? 'maxLength' : 'minLength'}`,
    'a length together with a format',
  )
}

const month31 = '("0" [13578] | "10" | "12") "-" ("0" [1-9] | [12] [0-9] | "3" [01])'
const month30 = '("0" [469] | "11") "-" ("0" [1-9] | [12] [0-9] | "30")'
const february = '"02-" ("0" [1-9] | "1" [0-9] | "2" [0-8])'
const fourths = '"0" [48] | [2468] [048] | [13579] [26]'
const leapYear = `([0-9] [0-9] (${fourths}) | ("00" | ${fourths}) "00")`
const date = `([0-9]{4} "-" (${month31} | ${month30} | ${february}) | ${leapYear} "-02-29")`
const minutes = '[0-5] [0-9]'
const hours = '([01] [0-9] | "2" [0-3])'
const time = `${hours} ":" ${minutes} ":" ${minutes} ("." [0-9]{1,9})? ("Z" | [+-] ${hours} ":" ${minutes})`
const uuid = 'hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12}'

/** RFC 3339 without leap seconds, and RFC 9562. */
const formats: ReadonlyMap<string, string> = new Map([
  ['date', date],
  ['time', time],
  ['date-time', `${date} "T" ${time}`],
  ['uuid', uuid],
])
