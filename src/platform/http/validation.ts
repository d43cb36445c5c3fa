import type { Static, TObject } from 'typebox'
import { Compile } from 'typebox/compile'
import { Format } from 'typebox/format'
import { hiddenIn, isBlank } from '../one-line.ts'
import { firstFault, type Synonyms } from './validation-fault.ts'
import { Problem } from '../problems.ts'

// JSON can carry what neither a tokenizer nor PostgreSQL takes: NUL, and halves of surrogate pairs.
const isText = (value: string) => value.isWellFormed() && !value.includes('\0')
Format.Set('text', isText)
Format.Set('filled-text', (value) => isText(value) && /\S/.test(value))
// One line of text that can be seen: a name, a subject.
Format.Set('line', (value) => isText(value) && !isBlank(value) && hiddenIn(value) === undefined)
Format.Set('page-size', (value) => /^(?:[1-9]\d?|1\d\d|200)$/.test(value))
Format.Set('row-number', (value) => /^[1-9]\d{0,17}$/.test(value))

/**
 * Compiles a check for the body of a request. The check returns the body as it is, or throws a Problem that names the
 * first fault: `malformed_json` where it is no object, else `missing_field`, `unknown_field` or `invalid_field`.
 */
export function compileBody<Body extends TObject>(
  schema: Body,
  synonyms: Synonyms = {},
): (body: unknown) => Static<Body> {
  const check = Compile(schema)
  return (body) => {
    if (check.Check(body)) return body
    throw bodyFault(schema, body, synonyms)
  }
}

function bodyFault(schema: TObject, body: unknown, synonyms: Synonyms): Problem {
  if (body === undefined) return new Problem('malformed_json', 'The body is empty: send a JSON object.')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return new Problem('malformed_json', 'The body is JSON, but not an object: send a JSON object.')
  }
  const fault = firstFault(schema, body, '', synonyms)
  return new Problem(fault.code, fault.reason, { field: fault.field })
}
