import { quote } from './grammar-text.ts'
import { choiceOf, refusedSchema, type Schema } from './schema.ts'

/** The largest count of items or characters that a grammar counts: it writes each place out. */
const mostCounted = 256
/** The largest range of integers that a grammar lists. */
const mostListed = 1000
/** A grammar writes integers of at most 15 digits, all of which are exact in JSON. */
const largest = 999_999_999_999_999

/** An expression for the texts of a length, in characters. Throws Problem `invalid_field`. */
export function stringOf({ minLength, maxLength }: Schema, place: string): string {
  if (minLength === undefined && maxLength === undefined) return 'string'
  const least = countOf(minLength, 0, `${place}.minLength`)
  const most = maxLength === undefined ? undefined : countOf(maxLength, 0, `${place}.maxLength`)
  if (most !== undefined && most < least) throw refusedSchema(`${place}.maxLength`, 'less than minLength')
  return `"\\"" char{${least},${most ?? ''}} "\\""`
}

/** An expression for the integers of a range. Throws Problem `invalid_field` for a range that a grammar cannot describe. */
export function integerOf(schema: Schema, place: string): string {
  const least = Math.max(
    boundOf(schema, 'minimum', -Infinity, place),
    boundOf(schema, 'exclusiveMinimum', -Infinity, place) + 1,
  )
  const most = Math.min(
    boundOf(schema, 'maximum', Infinity, place),
    boundOf(schema, 'exclusiveMaximum', Infinity, place) - 1,
  )
  if (most - least < mostListed && most >= least) {
    return choiceOf(Array.from({ length: most - least + 1 }, (_, index) => quote(String(least + index))))
  }
  if (most >= largest && least <= -largest) return 'integer'
  if (most >= largest && least === 0) return 'natural'
  if (most >= largest && least === 1) return 'positive'
  throw refusedSchema(place, 'a range of more than 1000 integers that begins elsewhere than at 0 or 1')
}

/** An expression for all numbers, or those that are not negative. Throws Problem `invalid_field`. */
export function numberOf({ minimum }: Schema, place: string): string {
  if (minimum === undefined) return 'number'
  if (minimum === 0) return 'unsigned'
  throw refusedSchema(`${place}.minimum`, 'a bound of a number other than 0')
}

/** A bound of a count. Throws Problem `invalid_field`. */
export function countOf(value: unknown, missing: number, field: string): number {
  if (value === undefined) return missing
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostCounted) return value
  throw refusedSchema(field, `anything but a number up to ${mostCounted}`)
}

function boundOf(schema: Schema, name: string, missing: number, place: string): number {
  const value = schema[name]
  if (value === undefined) return missing
  if (typeof value === 'number' && Number.isInteger(value)) return value
  throw refusedSchema(`${place}.${name}`, 'a bound that is not an integer')
}
