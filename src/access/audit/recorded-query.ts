import { parseIsoTime } from '../../platform/text/calendar.ts'
import { isUuid } from '../../platform/database/uuid.ts'

/** Fields whose values the schemas of the routes enumerate. */
const enumerated: ReadonlySet<string> = new Set(['actor', 'format', 'outcome', 'views'])

/** The name of an action, of an error or of a stop reason. No name of a person has this form. */
const word = /^[a-z]+(?:_[a-z]+)+$/

/** The columns in `by`. */
const columns = /^(?:(?:day|model|key|client|account)(?:,|$))+$/

/**
 * A query as the audit log keeps it for good: ids, times and the program's own words. Any other text, such as a client's name in
 * place of an id, becomes `?`, because nothing could erase it.
 */
export function recordedQuery(query: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const recorded: Record<string, string> = {}
  for (const [field, value] of Object.entries(query)) {
    if (value !== undefined) recorded[field] = isPlain(field, value) ? value : '?'
  }
  return recorded
}

function isPlain(field: string, value: string): boolean {
  if (enumerated.has(field) || (field === 'by' && columns.test(value))) return true
  return isUuid(value) || parseIsoTime(value) !== undefined || /^\d{1,18}$/.test(value) || word.test(value)
}
