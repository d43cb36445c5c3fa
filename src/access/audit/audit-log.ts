import { parseIsoTime, zonedTime } from '../../platform/text/calendar.ts'
import { csvLine, spreadsheetCsv } from '../../platform/text/csv.ts'
import { Problem } from '../../platform/problems.ts'
import { idIfAny } from '../../platform/database/uuid.ts'
import type { RecordAccess } from '../access.ts'
import type { Visit } from '../actor.ts'
import {
  readEntries,
  readRole,
  type EntryFilter,
  type FoundEntry,
  type SearchReach,
  type StoredEntry,
} from './store.ts'
import { may } from '../policy.ts'
import { recordedQuery } from './recorded-query.ts'
import type { AuditList, AuditQuery, AuditRow } from '../schema.ts'

/** The audit log, for partners. For others both methods throw Problem `forbidden`. Each read is itself recorded. */
export interface AuditLog {
  /** One page, newest first. It may have fewer rows than the limit, even none, and still have a next page. */
  page(visit: Visit, query: AuditQuery): Promise<AuditList>
  /** All matching rows as CSV, newest first, in pieces. Times are in the time zone, with its offset. */
  csv(visit: Visit, query: AuditQuery): Promise<AsyncIterable<string>>
}

const perPiece = 1000

interface AuditLogNeeds {
  readonly access: RecordAccess
  readonly locale: string
  readonly timeZone: string
  readonly reach?: SearchReach
}

export function createAuditLog({ access, locale, timeZone, reach }: AuditLogNeeds): AuditLog {
  async function permit(visit: Visit, details: Record<string, string>): Promise<void> {
    const audited = { action: 'audit_read', noun: 'audit' }
    if (may(visit.actor, 'read', 'audit')) return access.note(visit, { ...audited, details })
    await access.forbid(visit, audited, 'Only partners may see the audit log.')
  }

  async function read(visit: Visit, filter: EntryFilter, before?: string): Promise<Page> {
    const search = { filter, before, limit: perPiece + 1, reach }
    const [rows, [role]] = await access.as(visit, [readEntries(search), readRole])
    // A reader who loses the role during a long download gets a truncated file, which clients detect.
    if (role?.partner !== true) throw new Problem('forbidden', 'Only partners may see the audit log.')
    return pageOf(rows, perPiece)
  }

  async function* pieces(visit: Visit, filter: EntryFilter, first: Page): AsyncIterable<string> {
    const format = spreadsheetCsv(locale)
    yield format.mark + csvLine(columns, format)
    for (let page = first; ; page = await read(visit, filter, page.next)) {
      yield page.entries.map((entry) => csvLine(cellsOf(entry, timeZone), format)).join('')
      if (page.next === null) return
    }
  }

  return Object.freeze<AuditLog>({
    async page(visit, query) {
      await permit(visit, detailsOf(query))
      const limit = Number(query.limit ?? 50)
      const search = { filter: filterOf(query), before: query.cursor, limit: limit + 1, reach }
      const [rows] = await access.as(visit, [readEntries(search)])
      const { entries, next } = pageOf(rows, limit)
      return { audit: entries.map(present), next }
    },
    async csv(visit, query) {
      const filter = filterOf(query)
      await permit(visit, detailsOf(query))
      // Before the response starts, so that a failure has a status and does not truncate a file.
      return pieces(visit, filter, await read(visit, filter))
    },
  })
}

interface Page {
  readonly entries: readonly StoredEntry[]
  /** The cursor of the next page. */
  readonly next: string | null
}

/** Makes a page from the rows of a search for one more than `limit`. */
function pageOf(rows: readonly FoundEntry[], limit: number): Page {
  const found = rows.filter((row) => row.id !== null)
  const entries = found.slice(0, limit)
  const last = found.length > limit ? entries.at(-1)?.id : undefined
  const [end] = rows
  return { entries, next: (last ?? (end?.more === true ? end.seen : undefined))?.toString() ?? null }
}

function filterOf({ action, outcome, actor, person, client, from, to, views }: AuditQuery): EntryFilter {
  return {
    action,
    outcome,
    actor,
    person: idIfAny(person),
    client: idIfAny(client),
    from: timeField('from', from),
    to: timeField('to', to),
    views: views === 'false' ? views : undefined,
  }
}

function timeField(field: string, text: string | undefined): string | undefined {
  const time = text === undefined ? undefined : parseIsoTime(text)
  if (text === undefined || time !== undefined) return time?.toISOString()
  throw new Problem('invalid_field', `The field ${field} must be a day or a time in UTC: 2026-03-12T10:00:00Z.`, {
    field,
  })
}

const detailsOf = (query: AuditQuery): Record<string, string> =>
  recordedQuery({ ...query, cursor: undefined, limit: undefined })

function present(row: StoredEntry): AuditRow {
  const { id, at, action, outcome, person_id, person_name, client_id, client_name } = row
  return {
    id: id.toString(),
    at: at.toISOString(),
    action,
    outcome,
    actor: { kind: row.actor, id: row.actor === 'key' ? row.actor_name : person_id, name: actorName(row) },
    person: person_id === null ? null : { id: person_id, name: person_name },
    client: client_id === null ? null : { id: client_id, name: client_name },
    noun: row.noun,
    noun_id: row.noun_id,
    request_id: row.request_id,
    address: row.address,
    details: row.details ?? {},
  }
}

function actorName({ actor, actor_name, person_name }: StoredEntry): string | null {
  if (actor === 'person') return person_name
  return actor === 'command' ? actor_name : null
}

const columns = [
  'id',
  'at',
  'action',
  'outcome',
  'person_id',
  'person_name',
  'client_id',
  'client_name',
  'noun',
  'noun_id',
  'request_id',
  'address',
  'details',
  'actor',
  'actor_name',
] as const

function cellsOf(row: StoredEntry, timeZone: string) {
  const details = row.details === null ? null : JSON.stringify(row.details)
  const cells = { ...row, at: zonedTime(row.at, timeZone), details }
  return columns.map((column) => cells[column])
}
