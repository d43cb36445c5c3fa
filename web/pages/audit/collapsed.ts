import type { AuditRow } from '../../../src/clients/schema.ts'

/** A row of the page: an event, or several views in succession. */
export interface ShownEvents {
  /** The newest event. */
  readonly row: AuditRow
  /** The oldest event; the same as `row` if there is one. */
  readonly first: AuditRow
  readonly count: number
}

/** Puts successive views of one record by one actor into one row. Rows are newest first. */
export function collapsed(rows: readonly AuditRow[]): ShownEvents[] {
  const shown: ShownEvents[] = []
  for (const row of rows) {
    const last = shown.at(-1)
    if (last && isSameView(last.row, row)) shown.splice(-1, 1, { row: last.row, first: row, count: last.count + 1 })
    else shown.push({ row, first: row, count: 1 })
  }
  return shown
}

/** The same actions as in src/access/audit/store.ts. */
const isView = ({ action, outcome }: AuditRow) => outcome === 'allowed' && /(_read|_listed|_searched)$/.test(action)

function isSameView(one: AuditRow, other: AuditRow): boolean {
  return isView(one) && isView(other) && subjectKey(one) === subjectKey(other)
}

/** Views of the parts of a client's record are views of the record. */
function subjectKey({ actor, action, client, noun_id: nounId }: AuditRow): string {
  return JSON.stringify([actor.kind, actor.id, actor.name, client ? client.id : [action, nounId]])
}
