import Negotiator from 'negotiator'

// JSON comes first, for */*. Negotiator treats a type with a parameter as a different type.
const json = ['application/json', 'application/json; charset=utf-8']
const available = [...json, 'text/html', 'text/html; charset=utf-8']

/** Whether a client prefers a page to JSON (RFC 9110 section 12.5.1). */
export function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return false
  const preferred = new Negotiator({ headers: { accept } }).mediaType(available)
  return preferred !== undefined && !json.includes(preferred)
}
