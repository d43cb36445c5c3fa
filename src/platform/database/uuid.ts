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
