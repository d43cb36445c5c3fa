import { createHash, randomUUIDv7 } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { personIdOf, type Visit } from '../access/actor.ts'
import { Problem } from '../platform/problems.ts'

/** Ids of records are UUIDv7 as the application makes them: lower case, RFC 9562 section 5.7. */
const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** An id that no record has. */
const nowhere = '00000000-0000-7000-8000-000000000000'

/**
 * The id that an address names. Anything else in its place becomes an id that does not exist, and is looked up like any
 * other: an answer, and the time that it takes, tell nothing.
 */
export function recordId(text: string): string {
  return shape.test(text) ? text : nowhere
}

/**
 * The id of something that a visit makes at an address. With a key it is the same each time that person sends it there:
 * what was made already is not made again. The key is a UUIDv7 of the caller's, whose time the id takes; the rest is a
 * hash with the person in it, so that nobody can aim at what is another's. Throws Problem `invalid_field`.
 */
export function newId({ actor }: Visit, address: string, key: string | undefined): string {
  if (key === undefined) return randomUUIDv7()
  if (!shape.test(key)) {
    throw new Problem('invalid_field', 'The header Idempotency-Key must be a UUIDv7 in lower case.', {
      field: 'Idempotency-Key',
    })
  }
  const hash = createHash('sha256')
    .update(JSON.stringify([personIdOf(actor) ?? null, address, key]))
    .digest('hex')
  return `${key.slice(0, 15)}${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}

export function keyOf({ headers }: { readonly headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['idempotency-key']
  return Array.isArray(key) ? key.join(',') : key
}
