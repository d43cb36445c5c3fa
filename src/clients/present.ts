import { billingOf } from './record/billing.ts'
import { contacts } from './contacts/contacts.ts'
import { disputes } from './items/disputes.ts'
import { documents } from './documents/documents.ts'
import { expenses } from './items/expenses.ts'
import type { ItemJson, PersonJson } from './items/store.ts'
import { personOf, timeIfAny, timeOf } from './items/values.ts'
import type { ItemKind } from './items/kinds.ts'
import { letters } from './letters/letters.ts'
import type { ListedRow } from './list/store.ts'
import { notes } from './items/notes.ts'
import type { ListedClient } from './schema.ts'
import type { ClientRow, ErasureJson, RecordRow, WholeRecordRow } from './record/store.ts'
import { tasks } from './tasks/tasks.ts'
import { timeEntries } from './items/time-entries.ts'

/** An item in a response: the common fields and those of its kind. */
export interface Item {
  readonly id: string
  readonly created_at: string
  readonly created_by: PersonJson | null
  readonly updated_at: string
  readonly updated_by: PersonJson | null
  readonly version: number
  readonly archived_at: string | null
  readonly [field: string]: unknown
}

export function presentItem(kind: ItemKind, item: ItemJson, currency: string): Item {
  return {
    id: item.id,
    ...kind.toFields(item, currency),
    ...kind.toStateFields?.(item),
    created_at: timeOf(item.created_at),
    created_by: personOf(item.created_by, item.created_by_name),
    updated_at: timeOf(item.updated_at),
    updated_by: personOf(item.updated_by, item.updated_by_name),
    version: item.version,
    archived_at: timeIfAny(item.archived_at),
  }
}

/** A record as the schema `clientRecord` describes it. */
export type ShownRecord = ReturnType<typeof presentRecord>

export function presentRecord(row: RecordRow, currency: string) {
  return {
    ...presentClient(row),
    ...billingOf(row),
    erasure: row.erasure && presentErasure(row.erasure),
    notes: (row.notes ?? []).map((item) => presentItem(notes, item, currency)),
    disputes: (row.disputes ?? []).map((item) => presentItem(disputes, item, currency)),
    letters: (row.letters ?? []).map((item) => presentItem(letters, item, currency)),
  }
}

/** A record with its documents, tasks, contacts, time entries and expenses. */
export type WholeRecord = ReturnType<typeof presentWholeRecord>

export function presentWholeRecord(row: WholeRecordRow, currency: string) {
  return {
    ...presentRecord(row, currency),
    documents: (row.documents ?? []).map((item) => presentItem(documents, item, currency)),
    tasks: (row.tasks ?? []).map((item) => presentItem(tasks, item, currency)),
    contacts: (row.contacts ?? []).map((item) => presentItem(contacts, item, currency)),
    time_entries: (row.time_entries ?? []).map((item) => presentItem(timeEntries(), item, currency)),
    expenses: (row.expenses ?? []).map((item) => presentItem(expenses(), item, currency)),
  }
}

export function presentListed(row: ListedRow): ListedClient {
  return { ...presentClient(row), open_disputes: row.open_disputes }
}

function presentErasure({ scheduled_at, scheduled_by, scheduled_by_name, due_at, reason }: ErasureJson) {
  return {
    reason,
    scheduled_at: timeOf(scheduled_at),
    scheduled_by: personOf(scheduled_by, scheduled_by_name),
    due_at: timeOf(due_at),
  }
}

function presentClient(row: ClientRow) {
  const { id, name, reference, email, address, status, consultant_id, consultant_name, version } = row
  return {
    id,
    name,
    reference,
    email,
    address,
    status,
    consultant: { id: consultant_id, name: consultant_name },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version,
    changed_at: row.changed_at.toISOString(),
  }
}
