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
