const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is a UUID. A query with any other text as an id fails. */
export function isUuid(text: string): boolean {
  return shape.test(text)
}
