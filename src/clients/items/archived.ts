import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { may, scopeOf } from '../../access/policy.ts'
import { parseIsoTime } from '../../platform/text/calendar.ts'
import { createItemOutcomes } from './outcomes.ts'
import { readArchivable, readArchived, restoreItem, type ItemJson } from './store.ts'
import type { ItemKind } from './kinds.ts'
import { cursorOf, limitOf, positionOf } from '../../platform/http/input/paging.ts'
import { presentItem, type Item } from '../present.ts'
import type { Basis } from '../../platform/http/versions.ts'

/** The archived notes, disputes or letters of a client. Both methods apply the policy and write an audit event. */
export interface ArchivedItems {
  /** One page, the latest archived first. Throws Problem `invalid_field` for a cursor that no page had. */
  listArchived(
    visit: Visit,
    clientId: string,
    page: { readonly cursor?: string; readonly limit?: string },
  ): Promise<{ readonly items: readonly Item[]; readonly next: string | null }>
  /**
   * Returns an item to the record as a new version. An item that is not archived stays as it is. Throws Problem `conflict`
   * for an archived client and for a full record, and `stale_version` with the current item if its version is not in
   * `basis`.
   */
  restore(visit: Visit, clientId: string, id: string, basis: Basis): Promise<Item>
}

/** A time as responses have it. The year keeps it within PostgreSQL's range. */
const isTime = (text: string) => /^2\d{3}-\S{5}T\S+Z$/.test(text) && parseIsoTime(text) !== undefined

interface ArchivedNeeds {
  readonly access: RecordAccess
  readonly currency: string
  readonly kind: ItemKind
}

export function createArchivedItems({ access, currency, kind }: ArchivedNeeds): ArchivedItems {
  const { noun } = kind
  const present = (row: ItemJson) => presentItem(kind, row, currency)
  const { outcome, refused } = createItemOutcomes({ access, kind, present })

  return Object.freeze<ArchivedItems>({
    async listArchived(visit, clientId, page) {
      const scope = scopeOf(visit.actor, 'list', noun)
      const limit = limitOf(page.limit)
      const after = positionOf(page.cursor, isTime)
      const [[row]] = await access.as(visit, [readArchived(kind, scope, clientId, { after, limit: limit + 1 })])
      const done: AuditedAction = { action: `${kind.plural}_listed`, noun, clientId }
      if (!row || !may(visit.actor, 'list', noun, { consultantId: row.consultant_id }))
        return access.refuse(visit, done)
      await access.note(visit, done)
      const items = (row.items ?? []).map(present)
      const shown = items.slice(0, limit)
      const last = items.length > limit ? shown.at(-1) : undefined
      return { items: shown, next: last?.archived_at ? cursorOf({ key: last.archived_at, id: last.id }) : null }
    },

    async restore(visit, clientId, id, basis) {
      const scope = scopeOf(visit.actor, 'remove', noun)
      const done: AuditedAction = { action: `${noun}_restored`, noun, clientId, nounId: id }
      const [[restored], [row]] = await access
        .as(visit, [
          restoreItem(kind, scope, { visit, clientId, id, basis }),
          readArchivable(kind, scope, clientId, id),
        ])
        .catch(refused(visit, done))
      const wasThere =
        !restored &&
        row?.status === 'active' &&
        row.item?.archived_at === null &&
        (basis === null || basis.includes(row.item.version))
      const item = await outcome(visit, {
        audited: done,
        action: 'remove',
        row,
        changed: restored !== undefined || wasThere,
        restores: true,
      })
      if (wasThere) await access.note(visit, { ...done, action: `${noun}_read` })
      return item
    },
  })
}
