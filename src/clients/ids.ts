import { isUuidv7 } from '../platform/database/uuid.ts'

/** An id that no record has. */
const unusedId = '00000000-0000-7000-8000-000000000000'

/**
 * The record id in a URL. A malformed id becomes one that no record has, so that neither the response nor its timing
 * distinguishes the two.
 */
export function recordId(text: string): string {
  return isUuidv7(text) ? text : unusedId
}
