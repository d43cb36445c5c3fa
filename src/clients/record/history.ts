import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { may, scopeOf } from '../../access/policy.ts'
import { contacts } from '../contacts/contacts.ts'
import { disputes } from '../items/disputes.ts'
import { documents } from '../documents/documents.ts'
import { expenses } from '../items/expenses.ts'
import { notes } from '../items/notes.ts'
import { hiddenNumbers, type HiddenNumbers } from './hidden-numbers.ts'
import { limitOf, badCursor, positionOf, cursorOf } from '../../platform/http/input/paging.ts'
import type { Activity, ActivityList, RevisedNoun, RevisionList, RevisionQuery } from '../schema.ts'
import { tasks } from '../tasks/tasks.ts'
import { timeEntries } from '../items/time-entries.ts'
import { readActivity, readNumberKey, type ActivityRow } from './activity-store.ts'
import { readOwner, readRevisions, type RevisionRow } from './store.ts'

const isLaterVersion = (text: string) => /^(?:[2-9]|[1-9]\d{1,8})$/.test(text)

/** The history of a record. Both methods throw what `RecordAccess.refuse` throws. */
export interface History {
  /** The revisions of a client or of one of its items, newest first, including archived ones. */
  revisions(
    visit: Visit,
    clientId: string,
    record: { readonly noun: RevisedNoun; readonly id: string },
    page: RevisionQuery,
  ): Promise<RevisionList>
  /** Who did what with the record, newest first. */
  activity(
    visit: Visit,
    clientId: string,
    page: { readonly cursor?: string; readonly limit?: string; readonly reads?: 'true' | 'false' },
  ): Promise<ActivityList>
}

export function createHistory({ access, currency }: { access: RecordAccess; currency: string }): History {
  let key: Promise<Buffer> | undefined

  /** The numbers of a client's activity. The key is read once. */
  async function numbersOf(visit: Visit, clientId: string): Promise<HiddenNumbers> {
    key ??= readKey(visit)
    return hiddenNumbers(
      await key.catch((error: unknown) => {
        key = undefined
        throw error
      }),
      clientId,
    )
  }

  async function readKey(visit: Visit): Promise<Buffer> {
    const [[row]] = await access.as(visit, [readNumberKey])
    if (!row) throw new Error('the database has no key for the numbers of activities')
    return Buffer.from(row.key, 'hex')
  }

  return Object.freeze<History>({
    async revisions(visit, clientId, { noun, id }, page) {
      const scope = scopeOf(visit.actor, 'read', noun)
      const limit = limitOf(page.limit)
      const query = { noun, id, before: positionOf(page.cursor, isLaterVersion)?.key, limit: limit + 1 }
      const [[owner], rows] = await access.as(visit, [
        readOwner(scope, clientId),
        readRevisions(scope, clientId, query),
      ])
      const audited = { action: 'revisions_read', noun, clientId, nounId: id }
      const facts = { consultantId: owner?.consultant_id }
      if (rows.length === 0 || !may(visit.actor, 'read', noun, facts)) return access.refuse(visit, audited)
      await access.note(visit, audited)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      return {
        revisions: shown.map((row) => presentRevision(noun, row, currency)),
        next: last ? cursorOf({ key: String(last.version), id }) : null,
      }
    },

    async activity(visit, clientId, page) {
      const scope = scopeOf(visit.actor, 'read', 'client')
      const limit = limitOf(page.limit)
      const numbers = await numbersOf(visit, clientId)
      const before = page.cursor === undefined ? undefined : numbers.find(page.cursor)
      if (page.cursor !== undefined && before === undefined) throw badCursor()
      const query = { before, reads: page.reads === 'true', limit: limit + 1 }
      const [[owner], rows] = await access.as(visit, [readOwner(scope, clientId), readActivity(scope, clientId, query)])
      const audited = { action: 'activity_read', noun: 'client', clientId, nounId: clientId }
      if (!owner || !may(visit.actor, 'read', 'client', { consultantId: owner.consultant_id })) {
        return access.refuse(visit, audited)
      }
      await access.note(visit, audited)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      return {
        activity: shown.map((row) => presentActivity(row, numbers)),
        next: last ? numbers.hide(last.id) : null,
      }
    },
  })
}

const fieldsOf = {
  client: (data: Readonly<Record<string, unknown>>) => data,
  note: notes.toFields,
  dispute: disputes.toFields,
  document: documents.toFields,
  task: tasks.toFields,
  contact: contacts.toFields,
  time_entry: timeEntries().toFields,
  expense: expenses().toFields,
  // What a letter has cost is in the ledger, which has no versions.
  letter: ({ subject, body, status, generated }: Readonly<Record<string, unknown>>) => ({
    subject,
    body,
    status,
    generated,
  }),
} satisfies Record<RevisedNoun, unknown>

export function presentRevision(noun: RevisedNoun, row: RevisionRow, currency: string) {
  const { version, at, by, archived, data, consultant } = row
  const fields = { ...fieldsOf[noun](data, currency), ...(consultant && { consultant }) }
  return { version, at: at.toISOString(), by, archived, data: fields }
}

function presentActivity(row: ActivityRow, numbers: HiddenNumbers): Activity {
  const { id, at, by, action, outcome, noun, noun_id, details, title } = row
  const fields = details?.['fields']?.split(' ').filter((field) => field !== '') ?? []
  const version = details?.['version']
  return {
    id: numbers.hide(id),
    at: at.toISOString(),
    by,
    action,
    outcome,
    noun,
    noun_id,
    title,
    version: version === undefined ? null : Number(version),
    fields,
  }
}
