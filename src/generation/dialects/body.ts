import { isDeepStrictEqual } from 'node:util'
import { Problem } from '../../platform/problems.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Values of a field that have no effect, so the field can be accepted and ignored. */
export type Neutral =
  /** A hint: it never changes the answer, whatever its value. */
  | 'any value'
  /** These values; null always is one. */
  | readonly unknown[]
  /** An object whose fields are all neutral. */
  | { readonly fields: UnsupportedFields }

/** Fields of another API that Tollgate does not support, each with its neutral values. */
export type UnsupportedFields = Readonly<Record<string, Neutral>>

/**
 * Returns a body without the fields that have no effect: those that are null, and those in `unsupported` with a neutral value.
 * Throws Problem `invalid_field` for a field in `unsupported` that would change the answer. Leaves anything that is not an
 * object to the schema.
 */
export function withoutNeutral(body: unknown, unsupported: UnsupportedFields, path = ''): unknown {
  if (!isFields(body)) return body
  const asks = (name: string): boolean => asksForSomething(name, body[name], unsupported, path)
  const names = Object.keys(body)
  if (names.every(asks)) return body
  return Object.fromEntries(names.filter(asks).map((name) => [name, body[name]]))
}

/** Returns a body whose fields of these names have no null fields, if they are objects. */
export function withoutNullsIn(body: Fields, names: readonly string[]): Fields {
  const inner = names.filter((name) => isFields(body[name]))
  if (inner.length === 0) return body
  return { ...body, ...Object.fromEntries(inner.map((name) => [name, withoutNeutral(body[name], {})])) }
}

function asksForSomething(name: string, value: unknown, unsupported: UnsupportedFields, path: string): boolean {
  if (value === null) return false
  const neutral = Object.hasOwn(unsupported, name) ? unsupported[name] : undefined
  if (neutral === undefined) return true
  refuseUnlessNeutral(value, neutral, `${path}${name}`)
  return false
}

function refuseUnlessNeutral(value: unknown, neutral: Neutral, field: string): void {
  if (neutral === 'any value') return
  if (!('fields' in neutral)) {
    if (!neutral.some((each) => each === value || isDeepStrictEqual(each, value)))
      throw unsupportedField(field, neutral)
    return
  }
  const rest = withoutNeutral(value, neutral.fields, `${field}.`)
  if (!isFields(rest)) throw mustBe(field, 'an object')
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw unsupportedField(`${field}.${shownName(unknown)}`, [])
}

/** Callers choose the names of unknown fields: only a plain one is repeated in an error. */
export const shownName = (name: string): string => (/^\w{1,40}$/.test(name) ? name : '?')

function unsupportedField(field: string, neutral: readonly unknown[]): Problem {
  const [first] = neutral
  const advice = first === undefined ? 'Omit it.' : `Omit it, or send ${JSON.stringify(first)}.`
  return new Problem('invalid_field', `The field ${field} has a value that is not supported here. ${advice}`, {
    field,
  })
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Problem `invalid_field`. `what` completes the sentence "The field … must be …". */
export function mustBe(field: string, what: string): Problem {
  return new Problem('invalid_field', `The field ${field} must be ${what}.`, { field })
}
