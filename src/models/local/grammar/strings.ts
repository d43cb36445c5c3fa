import { expression, type Expression } from './expression.ts'
import type { Rules } from './rules.ts'
import { countOf, refusedSchema, type Schema } from './schema.ts'

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
