const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether PostgreSQL would take this text as an id; ask before a query, which would fail on anything else. */
export function isUuid(text: string): boolean {
  return shape.test(text)
}
