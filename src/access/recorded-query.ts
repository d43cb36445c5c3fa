import { parseIsoTime } from '../platform/calendar.ts'
import { isUuid } from '../platform/database/uuid.ts'

/** Fields whose values the schemas of the routes enumerate. */
const enumerated: ReadonlySet<string> = new Set(['actor', 'format', 'outcome', 'views'])

/** The name of an action, of an error or of a stop reason, or of columns. No name of a person has this form. */
const word = /^[a-z]+(?:_[a-z]+)+$|^(?:(?:day|model|key|client|account)(?:,|$)){2,}$/

/**
 * A query as the audit log keeps it for good: ids, times and the program's own words. Any other text, such as a client's name in
 * place of an id, becomes `?`, because nothing could erase it.
 */
export function recordedQuery(query: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const recorded: Record<string, string> = {}
  for (const [field, value] of Object.entries(query)) {
    if (value !== undefined) recorded[field] = enumerated.has(field) || isPlain(value) ? value : '?'
  }
  return recorded
}

const isPlain = (value: string): boolean =>
  isUuid(value) || parseIsoTime(value) !== undefined || /^\d{1,18}$/.test(value) || word.test(value)
