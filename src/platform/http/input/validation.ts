import type { Static, TObject } from 'typebox'
import { Compile } from 'typebox/compile'
import { Format } from 'typebox/format'
import { hiddenIn, isBlank } from '../../text/one-line.ts'
import { findFieldError, type Synonyms } from './field-errors.ts'
import { Problem } from '../../problems.ts'

// JSON can contain NUL and unpaired surrogates, which tokenizers and PostgreSQL do not accept.
const isText = (value: string) => value.isWellFormed() && !value.includes('\0')
Format.Set('text', isText)
Format.Set('filled-text', (value) => isText(value) && /\S/.test(value))
// One visible line of text, such as a name or a subject.
Format.Set('line', (value) => isText(value) && !isBlank(value) && hiddenIn(value) === undefined)
Format.Set('page-size', (value) => /^(?:[1-9]\d?|1\d\d|200)$/.test(value))
Format.Set('row-number', (value) => /^[1-9]\d{0,17}$/.test(value))

/**
 * Compiles a check of request bodies. The check returns a valid body unchanged. Otherwise it throws a Problem for the first
 * error: `malformed_json` if the body is not an object, else `missing_field`, `unknown_field` or `invalid_field`.
 */
export function compileBody<Body extends TObject>(
  schema: Body,
  synonyms: Synonyms = {},
): (body: unknown) => Static<Body> {
  const check = Compile(schema)
  const isShort = checkOfSizes(schema)
  return (body) => {
    if (isShort(body) && check.Check(body)) return body
    throw bodyProblem(schema, body, synonyms)
  }
}

interface Sizes {
  readonly maxItems?: number
  readonly maxProperties?: number
}

/** Compiles a check that no field is a list or an object that is too long: Check looks at all that it has before its length. */
function checkOfSizes(schema: TObject): (body: unknown) => boolean {
  const bounds = Object.entries(schema.properties).flatMap(([name, field]) => {
    const { maxItems, maxProperties }: Sizes = { ...field }
    const most = maxItems ?? maxProperties
    return most === undefined ? [] : [{ name, most }]
  })
  return (body) => {
    if (typeof body !== 'object' || body === null) return true
    for (const { name, most } of bounds) {
      const value: unknown = Reflect.get(body, name)
      if (typeof value !== 'object' || value === null) continue
      if ((Array.isArray(value) ? value : Object.keys(value)).length > most) return false
    }
    return true
  }
}

function bodyProblem(schema: TObject, body: unknown, synonyms: Synonyms): Problem {
  if (body === undefined) return new Problem('malformed_json', 'The body is empty: send a JSON object.')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return new Problem('malformed_json', 'The body is JSON, but not an object: send a JSON object.')
  }
  const { code, reason, field } = findFieldError(schema, body, '', synonyms)
  return new Problem(code, reason, { field })
}
