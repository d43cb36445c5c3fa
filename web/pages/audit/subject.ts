import type { AuditRow } from '../../../src/clients/schema.ts'
import { spoken } from '../../words.ts'

/** The subject of an event. */
export interface Subject {
  readonly text: string
  /** Its page, if it has one. */
  readonly to?: string
}

const items = new Map([
  ['note', 'notes'],
  ['dispute', 'disputes'],
  ['letter', 'letters'],
  ['document', 'documents'],
  ['task', 'tasks'],
  ['contact', 'contacts'],
  ['time_entry', 'time_entries'],
  ['expense', 'expenses'],
])
/** The pages of nouns outside a client's record. */
const pages = new Map([
  ['person', '/people'],
  ['invitation', '/people'],
  ['key', '/accounts'],
  ['model', '/models'],
  ['template', '/templates'],
])

/** The subject of an event; undefined for lists and searches. `names` has people by id. */
export function subjectOf(
  { client, noun, noun_id: id }: AuditRow,
  names: ReadonlyMap<string, string>,
): Subject | undefined {
  if (client) return inRecord(client.id, client.name ?? client.id, noun, id)
  if (noun === null || id === null) return undefined
  const to = noun === 'account' ? `/accounts/${id}` : pages.get(noun)
  return { text: names.get(id) ?? spoken(noun), ...(to !== undefined && { to }) }
}

function inRecord(client: string, name: string, noun: string | null, id: string | null): Subject {
  const plural = items.get(noun ?? '')
  const to = `/clients/${client}`
  return plural === undefined || noun === null || id === null
    ? { text: name, to }
    : { text: `${name} · ${noun.replace('_', ' ')}`, to: `${to}/${plural}/${id}` }
}
