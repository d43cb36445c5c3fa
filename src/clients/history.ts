import type { Access, Visit } from '../access/access.ts'
import { may, scopeOf, type Noun } from '../access/policy.ts'
import { disputes } from './disputes.ts'
import { letters } from './letters.ts'
import { notes } from './notes.ts'
import { limitOf, placeOf, cursorOf } from './paging.ts'
import type { Activity, ActivityList, RevisionList, RevisionQuery } from './schema.ts'
import { readActivity, type ActivityRow } from './search-store.ts'
import { readOwner, readRevisions, type RevisionRow } from './store.ts'

/** A version that has one before it. */
const isLaterVersion = (text: string) => /^(?:[2-9]|[1-9]\d{1,8})$/.test(text)

/** The number of a row of the audit log. */
const isRowNumber = (text: string) => /^\d{1,18}$/.test(text)

type RecordNoun = Exclude<Noun, 'person' | 'audit'>

/** What has become of a record. Both methods refuse as `Access.refuse` does. */
export interface History {
  /** The states of the client, or of something in its record, the newest first; also of what is archived. */
  revisions(
    visit: Visit,
    clientId: string,
    record: { readonly noun: RecordNoun; readonly id: string },
    page: RevisionQuery,
  ): Promise<RevisionList>
  /** Who did what with the record, the last first. */
  activity(
    visit: Visit,
    clientId: string,
    page: { readonly cursor?: string; readonly limit?: string; readonly reads?: 'true' | 'false' },
  ): Promise<ActivityList>
}

export function createHistory({ access }: { access: Access }): History {
  return Object.freeze({
    async revisions(visit: Visit, clientId: string, { noun, id }, page) {
      const scope = scopeOf(visit.person, 'read', noun)
      const limit = limitOf(page.limit)
      const asked = { noun, id, before: placeOf(page.cursor, isLaterVersion)?.key, limit: limit + 1 }
      const [[owner], rows] = await access.as(visit, [
        readOwner(scope, clientId),
        readRevisions(scope, clientId, asked),
      ])
      const deed = { action: 'revisions_read', noun, clientId, nounId: id }
      const facts = { consultantId: owner?.consultant_id }
      if (rows.length === 0 || !may(visit.person, 'read', noun, facts)) return access.refuse(visit, deed)
      await access.note(visit, deed)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      return {
        revisions: shown.map((row) => presentRevision(noun, row)),
        next: last ? cursorOf({ key: String(last.version), id }) : null,
      }
    },

    async activity(visit: Visit, clientId: string, page) {
      const scope = scopeOf(visit.person, 'read', 'client')
      const limit = limitOf(page.limit)
      const asked = { before: placeOf(page.cursor, isRowNumber)?.key, reads: page.reads === 'true', limit: limit + 1 }
      const [[owner], rows] = await access.as(visit, [readOwner(scope, clientId), readActivity(scope, clientId, asked)])
      const deed = { action: 'activity_read', noun: 'client', clientId, nounId: clientId }
      if (!owner || !may(visit.person, 'read', 'client', { consultantId: owner.consultant_id })) {
        return access.refuse(visit, deed)
      }
      await access.note(visit, deed)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      return {
        activity: shown.map(presentActivity),
        next: last ? cursorOf({ key: String(last.id), id: clientId }) : null,
      }
    },
  } satisfies History)
}

const fieldsOf = {
  client: (data: Readonly<Record<string, unknown>>) => data,
  note: notes.toFields,
  dispute: disputes.toFields,
  letter: letters.toFields,
} satisfies Record<RecordNoun, unknown>

function presentRevision(noun: RecordNoun, { version, at, by, archived, data }: RevisionRow) {
  return { version, at: at.toISOString(), by, archived, data: { ...fieldsOf[noun](data) } }
}

function presentActivity({ id, at, by, action, outcome, noun, noun_id, details }: ActivityRow): Activity {
  const fields = details?.['fields']?.split(' ').filter((field) => field !== '') ?? []
  const version = details?.['version']
  return {
    id: String(id),
    at: at.toISOString(),
    by,
    action,
    outcome,
    noun,
    noun_id,
    version: version === undefined ? null : Number(version),
    fields,
  }
}
