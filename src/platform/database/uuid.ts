const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is a UUID. A query with any other text as an id fails. */
export function isUuid(text: string): boolean {
  return shape.test(text)
}

const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Whether the text is a UUIDv7 in lower case (RFC 9562 section 5.7). */
export function isUuidv7(text: string): boolean {
  return version7.test(text)
}

/** An id that no record has. */
const unusedId = '00000000-0000-7000-8000-000000000000'

/**
 * The record id in a URL. A malformed id becomes one that no record has, so that neither the response nor its timing
 * distinguishes the two.
 */
export function recordId(text: string): string {
  return isUuidv7(text) ? text : unusedId
}

/** Unlike `unusedId`, which the audit log has for requests with a malformed address, it is in no row at all. */
const nil = '00000000-0000-0000-0000-000000000000'

/** The id in a filter, in lower case. Text that is no id becomes one that no row has. */
export function idIfAny(text: string | undefined): string | undefined {
  return text === undefined || isUuid(text) ? text?.toLowerCase() : nil
}
