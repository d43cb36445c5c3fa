import { isDeepStrictEqual } from 'node:util'
import { Problem } from '../../platform/problems.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Fields that an API has and this service does not serve, each with the values that ask for nothing. */
export type Unserved = Readonly<Record<string, readonly unknown[]>>

/**
 * A body without the fields that ask for nothing: null, and what is named in `unserved` at one of its values. Throws
 * Problem `invalid_field` for what asks for something that is not served. Whatever is no object is left to the schema.
 */
export function withoutUnserved(body: unknown, unserved: Unserved, path = ''): unknown {
  if (!isFields(body)) return body
  const kept = Object.entries(body).filter(([name, value]) => {
    if (value === null) return false
    const idle = Object.hasOwn(unserved, name) ? unserved[name] : undefined
    if (idle?.some((each) => isDeepStrictEqual(each, value))) return false
    if (idle) throw unservedField(`${path}${name}`, idle)
    return true
  })
  return Object.fromEntries(kept)
}

function unservedField(field: string, idle: readonly unknown[]): Problem {
  const [first] = idle
  const advice = first === undefined ? 'Leave it out.' : `Leave it out, or send ${JSON.stringify(first)}.`
  return new Problem('invalid_field', `The field ${field} asks for something that is not supported here. ${advice}`, {
    field,
  })
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Problem `invalid_field`: what the field must be. */
export function mustBe(field: string, what: string): Problem {
  return new Problem('invalid_field', `The field ${field} must be ${what}.`, { field })
}
