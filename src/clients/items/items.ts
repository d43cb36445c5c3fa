import * as store from './store.ts'
import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { may, scopeOf } from '../../access/policy.ts'
import { newId } from '../../access/new-id.ts'
import { parseIsoTime } from '../../platform/text/calendar.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { createItemOutcomes } from './outcomes.ts'
import type { ItemKind } from './kinds.ts'
import { minorUnitOf } from '../money.ts'
import { cursorOf, limitOf, positionOf } from '../../platform/http/input/paging.ts'
import { presentItem, type Item } from '../present.ts'
import type { Basis } from '../../platform/http/versions.ts'

type Body = Readonly<Record<string, unknown>>

export interface ItemPageQuery {
  readonly cursor?: string
  readonly limit?: string
}

export interface ItemPage {
  readonly items: readonly Item[]
  readonly next: string | null
  /** The totals of all items that are not archived, for a kind that has pages. */
  readonly totals?: Readonly<Record<string, unknown>> | undefined
}

/** The archived items of a client. Both methods apply the policy and write an audit event. */
interface ArchivedItems {
  /** One page, the latest archived first. Throws Problem `invalid_field` for a cursor that no page had. */
  listArchived(visit: Visit, clientId: string, page: ItemPageQuery): Promise<Omit<ItemPage, 'totals'>>
  /**
   * Returns an item to the record as a new version. An item that is not archived stays as it is. Throws Problem `conflict`
   * for an archived client and for a full record, and `stale_version` with the current item if its version is not in
   * `basis`.
   */
  restore(visit: Visit, clientId: string, id: string, basis: Basis): Promise<Item>
}

/**
 * The notes, disputes, letters, documents, tasks, contacts, time entries or expenses of a client. Every method applies the policy to the client, writes an audit event
 * whether it allows or refuses, and throws what `RecordAccess.refuse` throws if the actor cannot see the client or the item.
 * Changes also throw Problem `conflict` for an archived client or item and for a full record, and `stale_version` with the current
 * item if its version is not one that the change is based on.
 */
export interface Items extends ArchivedItems {
  readonly kind: ItemKind
  /** Those that are not archived: one page, for a kind that has pages, else all. */
  list(visit: Visit, clientId: string, page?: ItemPageQuery): Promise<ItemPage>
  /** Reads an archived item too. */
  read(visit: Visit, clientId: string, id: string): Promise<Item>
  /** Idempotent per person and `key`: a retry returns the item that the first call created, even if it is archived by now. */
  create(visit: Visit, clientId: string, body: Body, key?: string): Promise<Item>
  /** A change without new values creates no revision. */
  change(visit: Visit, clientId: string, id: string, change: { basis: Basis; body: Body }): Promise<Item>
  archive(visit: Visit, clientId: string, id: string, basis: Basis): Promise<void>
}

interface ItemsNeeds {
  readonly access: RecordAccess
  readonly currency: string
  readonly kind: ItemKind
}

export function createItems({ access, currency, kind }: ItemsNeeds): Items {
  const { noun } = kind
  const present = (row: store.ItemJson) => presentItem(kind, row, currency)
  const audited = (verb: string, clientId: string, nounId?: string): AuditedAction =>
    auditedOf(noun, verb, clientId, nounId)

  const { outcome, refused } = createItemOutcomes({ access, kind, present })

  return Object.freeze<Items>({
    kind,
    ...createArchivedItems({ access, currency, kind }),

    async list(visit: Visit, clientId: string, page: ItemPageQuery = {}) {
      const scope = scopeOf(visit.actor, 'list', noun)
      const limit = limitOf(page.limit)
      const after = kind.pagedBy && positionOf(page.cursor, kind.pagedBy === 'date' ? isDay : isTime)
      const statement: PreparedStatement<store.ItemsRow & Partial<store.ItemPageRow>> = kind.pagedBy
        ? store.readItemPage({ ...kind, pagedBy: kind.pagedBy }, scope, clientId, {
            after,
            limit: limit + 1,
            unit: minorUnitOf(currency),
          })
        : store.readItems(kind, scope, clientId)
      const [[row]] = await access.as(visit, [statement])
      const done = { ...audited('listed', clientId), action: `${kind.plural}_listed` }
      if (!row || !may(visit.actor, 'list', noun, { consultantId: row.consultant_id }))
        return access.refuse(visit, done)
      await access.note(visit, done)
      const items = (row.items ?? []).map(present)
      if (!kind.pagedBy) return { items, next: null }
      const totals = kind.toTotals?.(row.totals ?? {}, currency)
      return { ...pageOf(items, limit, kind.pagedBy), totals, ...kind.toListFields?.(currency) }
    },

    async read(visit, clientId, id) {
      const scope = scopeOf(visit.actor, 'read', noun)
      const [[row]] = await access.as(visit, [store.readArchivable(kind, scope, clientId, id)])
      const done = audited('read', clientId, id)
      if (!row?.item || !may(visit.actor, 'read', noun, { consultantId: row.consultant_id })) {
        return access.refuse(visit, done)
      }
      await access.note(visit, done)
      return present(row.item)
    },

    async create(visit: Visit, clientId: string, body: Body, key?: string) {
      const scope = scopeOf(visit.actor, 'create', noun)
      const id = newId(visit, `${clientId}/${kind.plural}`, key)
      const columns = { ...kind.defaults, ...kind.toColumns(body) }
      kind.checkNew?.(columns, visit.actor)
      const done = audited('created', clientId, id)
      const [[inserted], [row]] = await access
        .as(visit, [
          store.insertItem(kind, scope, { visit, clientId, id, columns }),
          store.readArchivable(kind, scope, clientId, id),
        ])
        .catch(refused(visit, done))
      const changed = row?.item !== null && row !== undefined
      if (changed && !inserted) await access.note(visit, audited('read', clientId, id))
      return outcome(visit, { audited: done, action: 'create', row, changed })
    },

    async change(visit, clientId, id, { basis, body }) {
      const scope = scopeOf(visit.actor, 'change', noun)
      const written = { visit, clientId, id, basis, columns: kind.toColumns(body) }
      const done = audited('changed', clientId, id)
      const [[change], [row]] = await access
        .as(visit, [store.updateItem(kind, scope, written), store.readArchivable(kind, scope, clientId, id)])
        .catch(refused(visit, done))
      const item = await outcome(visit, { audited: done, action: 'change', row, changed: change !== undefined })
      if (change?.changed === false) await access.note(visit, audited('read', clientId, id))
      return item
    },

    async archive(visit, clientId, id, basis) {
      const scope = scopeOf(visit.actor, 'remove', noun)
      const done = audited('archived', clientId, id)
      const [[changed], [row]] = await access
        .as(visit, [
          store.archiveItem(kind, scope, { visit, clientId, id, basis }),
          store.readArchivable(kind, scope, clientId, id),
        ])
        .catch(refused(visit, done))
      await outcome(visit, { audited: done, action: 'remove', row, changed: changed !== undefined })
    },
  })
}

/** A day as cursors have it. The year keeps it within PostgreSQL's range. */
const isDay = (text: string) => text.length === 10 && /^\d{4}-/.test(text) && parseIsoTime(text) !== undefined

/** A time as responses have it. The year keeps it within PostgreSQL's range. */
const isTime = (text: string) => /^2\d{3}-\S{5}T\S+Z$/.test(text) && parseIsoTime(text) !== undefined

function pageOf(items: readonly Item[], limit: number, column: string): ItemPage {
  const shown = items.slice(0, limit)
  const last = items.length > limit ? shown.at(-1) : undefined
  return { items: shown, next: last ? cursorOf({ key: String(last[column]), id: last.id }) : null }
}

const auditedOf = (noun: string, verb: string, clientId: string, nounId?: string): AuditedAction => ({
  action: `${noun}_${verb}`,
  noun,
  clientId,
  nounId,
})

function createArchivedItems({ access, currency, kind }: ItemsNeeds): ArchivedItems {
  const { noun } = kind
  const present = (row: store.ItemJson) => presentItem(kind, row, currency)
  const { outcome, refused } = createItemOutcomes({ access, kind, present })

  return Object.freeze<ArchivedItems>({
    async listArchived(visit, clientId, page) {
      const scope = scopeOf(visit.actor, 'list', noun)
      const limit = limitOf(page.limit)
      const after = positionOf(page.cursor, isTime)
      const [[row]] = await access.as(visit, [store.readArchived(kind, scope, clientId, { after, limit: limit + 1 })])
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
      const done = auditedOf(noun, 'restored', clientId, id)
      const [[restored], [row]] = await access
        .as(visit, [
          store.restoreItem(kind, scope, { visit, clientId, id, basis }),
          store.readArchivable(kind, scope, clientId, id),
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
