import { createHash, randomUUIDv7 } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Problem } from '../platform/problems.ts'
import { isUuidv7 } from '../platform/database/uuid.ts'
import { personIdOf, type Visit } from './actor.ts'

/**
 * The id of a new record. With an idempotency key, the id depends only on the person, the path and the key, so that a retry
 * finds the existing record. It keeps the time of the key, a UUIDv7. The rest is a hash that includes the person, so that
 * nobody can produce another person's id. Throws Problem `invalid_field`.
 */
export function newId({ actor }: Visit, path: string, key: string | undefined): string {
  if (key === undefined) return randomUUIDv7()
  if (!isUuidv7(key)) {
    throw new Problem('invalid_field', 'The header Idempotency-Key must be a UUIDv7 in lower case.', {
      field: 'Idempotency-Key',
    })
  }
  const hash = createHash('sha256')
    .update(JSON.stringify([personIdOf(actor) ?? null, path, key]))
    .digest('hex')
  return `${key.slice(0, 15)}${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}

export function idempotencyKeyOf({ headers }: { readonly headers: IncomingHttpHeaders }): string | undefined {
  const key = headers['idempotency-key']
  return Array.isArray(key) ? key.join(',') : key
}
