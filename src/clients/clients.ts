import type { RecordAccess, Deed } from '../access/access.ts'
import { personIdOf, type Visit } from '../access/actor.ts'
import { may, scopeOf, type Scope } from '../access/policy.ts'
import { readEmail } from '../people/email.ts'
import { Problem } from '../platform/problems.ts'
import { archived } from './items.ts'
import { newId, recordId } from './ids.ts'
import * as listStore from './list-store.ts'
import { cursorOf, limitOf, positionOf } from './paging.ts'
import { presentListed, presentRecord, type ShownRecord } from './present.ts'
import { violates } from './refusals.ts'
import type { ClientChange, ClientList, ClientQuery, NewClient } from './schema.ts'
import { stale } from './stale.ts'
import * as store from './store.ts'
import type { Basis } from './versions.ts'

/**
 * Client records. Every method applies the policy, writes an audit event whether it allows or refuses, and throws what
 * `Access.refuse` throws if the actor cannot see the client.
 */
export interface Clients {
  read(visit: Visit, id: string): Promise<ShownRecord>
  list(visit: Visit, query: ClientQuery): Promise<ClientList>
  /**
   * Idempotent per person and `key`: a retry returns the client that the first call created, in its current state. Throws
   * Problem `conflict` if the consultant already has a client with this reference.
   */
  create(visit: Visit, client: NewClient, key?: string): Promise<ShownRecord>
  /**
   * A change without new values creates no revision. Throws Problem `stale_version` with the current record, `conflict`
   * for an archived client that the change does not restore and for a reference that the consultant already uses,
   * `invalid_field`, and `forbidden` if the actor may not assign clients.
   */
  change(visit: Visit, id: string, change: { basis: Basis; body: ClientChange }): Promise<ShownRecord>
  /** Throws Problem `stale_version` with the current record. */
  remove(visit: Visit, id: string, basis: Basis): Promise<void>
}

const deedOf = (verb: string, clientId: string): Deed => ({
  action: `client_${verb}`,
  noun: 'client',
  clientId,
  nounId: clientId,
})

export function createClients({ access, currency }: { access: RecordAccess; currency: string }): Clients {
  const refused = (visit: Visit, deed: Deed) => (error: unknown) => {
    if (violates(error, 'client_reference')) return access.decline(visit, deed, referenceTaken(error))
    throw error
  }

  return Object.freeze({
    async read(visit: Visit, id: string) {
      const [[row]] = await access.as(visit, [store.readRecord(scopeOf(visit.actor, 'read', 'client'), id)])
      const deed = deedOf('read', id)
      if (!row || !may(visit.actor, 'read', 'client', ownerOf(row))) return access.refuse(visit, deed)
      await access.note(visit, deed)
      return presentRecord(row, currency)
    },

    async list(visit: Visit, query: ClientQuery) {
      const scope = scopeOf(visit.actor, 'list', 'client')
      const q = query.q === undefined || query.q.trim() === '' ? undefined : query.q
      const consultantId = query.consultant === undefined ? undefined : recordId(query.consultant)
      const filter = { q, status: query.status ?? 'active', consultantId }
      const limit = limitOf(query.limit)
      const sort = query.sort ?? 'name'
      const page = { sort, after: positionOf(query.cursor, listStore.keyTest(sort)), limit: limit + 1 }
      const { rows, counted } = await readPage(visit, scope, filter, page)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      await access.note(visit, { action: 'clients_listed', noun: 'client', details: { rows: String(shown.length) } })
      const mostCounted = listStore.countLimit(filter)
      return {
        clients: shown.map(presentListed),
        next: last ? cursorOf(last) : null,
        total: Math.min(counted, mostCounted),
        total_is_exact: counted <= mostCounted,
      }
    },

    async create(visit: Visit, client: NewClient, key?: string) {
      const id = newId(visit, 'clients', key)
      const columns = { ...columnsOf(client), consultant_id: client.consultant_id ?? personIdOf(visit.actor) }
      const read = store.readRecord(scopeOf(visit.actor, 'create', 'client'), id)
      // In a retry, the assigned consultant may have left since the first call.
      const exists = async () => key !== undefined && (await access.as(visit, [read]))[0].length > 0
      if (columns.consultant_id !== personIdOf(visit.actor) && !(await exists())) {
        await requireAssignable(visit, columns.consultant_id)
      }
      const insert = () => access.as(visit, [store.insertClient(visit, id, columns), read])
      const [[inserted], [row]] = await insert()
        .catch((error: unknown) => {
          if (key === undefined || !violates(error, 'client_reference')) throw error
          // A concurrent call with the same key can violate the reference's uniqueness first. By now its id exists.
          return insert()
        })
        .catch(refused(visit, { action: 'client_created', noun: 'client' }))
      if (row && !inserted) await access.note(visit, deedOf('read', id))
      return row ? presentRecord(row, currency) : access.refuse(visit, deedOf('created', id))
    },

    async change(visit: Visit, id: string, { basis, body }: { basis: Basis; body: ClientChange }) {
      const scope = scopeOf(visit.actor, 'change', 'client')
      const deed = deedOf('changed', id)
      if (body.consultant_id !== undefined) await requireAssignable(visit, body.consultant_id)
      const assigns = scopeOf(visit.actor, 'assign', 'client').of !== 'none'
      const [[change], [row]] = await access
        .as(visit, [
          store.updateClient(scope, { visit, id, basis, columns: columnsOf(body), assigns }),
          store.readRecord(scope, id),
        ])
        .catch(refused(visit, deed))
      if (!row || !may(visit.actor, 'change', 'client', ownerOf(row))) return access.refuse(visit, deed)
      const record = presentRecord(row, currency)
      if (change) {
        if (!change.changed) await access.note(visit, deedOf('read', id))
        return record
      }
      const staysArchived = row.status === 'archived' && body.status === undefined
      return access.decline(visit, deed, staysArchived ? archived() : stale(record))
    },

    async remove(visit: Visit, id: string, basis: Basis) {
      const scope = scopeOf(visit.actor, 'remove', 'client')
      if (scope.of === 'none') return access.forbid(visit, deedOf('removed', id), 'Only partners may delete clients.')
      const [[row], [changed]] = await access.as(visit, [
        store.readRecord(scope, id),
        store.deleteClient(scope, { visit, id, basis }),
      ])
      const deed = deedOf('removed', id)
      if (!row || !may(visit.actor, 'remove', 'client', ownerOf(row))) return access.refuse(visit, deed)
      if (!changed) await access.decline(visit, deed, stale(presentRecord(row, currency)))
    },
  } satisfies Clients)

  async function readPage(visit: Visit, scope: Scope, filter: listStore.ListFilter, page: listStore.ListPage) {
    const { q } = filter
    if (q !== undefined) {
      const [found] = await access.as(visit, [listStore.searchClients(scope, { ...filter, q }, page)])
      return { rows: found.filter((row) => row.id !== null), counted: found[0]?.total ?? 0 }
    }
    const [rows, [count]] = await access.as(visit, [
      listStore.readClients(scope, filter, page),
      listStore.countClients(scope, filter),
    ])
    return { rows, counted: count?.total ?? 0 }
  }

  /** Throws Problem `forbidden` or `invalid_field` unless the actor may assign a client to this active person. */
  async function requireAssignable(visit: Visit, consultantId: string | undefined): Promise<void> {
    if (!may(visit.actor, 'assign', 'client')) {
      const deed = { action: 'client_assigned', noun: 'client' }
      return access.forbid(visit, deed, 'Only partners may assign clients: omit consultant_id.', 'consultant_id')
    }
    const [[person]] = await access.as(visit, [store.readActivePerson(recordId(consultantId ?? ''))])
    if (person) return
    throw new Problem('invalid_field', 'The field consultant_id must be the id of an active person.', {
      field: 'consultant_id',
    })
  }
}

const ownerOf = ({ consultant_id: consultantId }: { readonly consultant_id: string }) => ({ consultantId })

function referenceTaken(cause: unknown): Problem {
  return new Problem('conflict', 'The consultant already has a client with this reference: choose another.', {
    field: 'reference',
    cause,
  })
}

/** The columns to write, with trimmed texts. Throws Problem `invalid_field`. */
function columnsOf(body: ClientChange): store.ClientColumns {
  const { name, reference, email } = body
  if (typeof email === 'string' && readEmail(email) === undefined) {
    throw new Problem('invalid_field', 'The field email must be an e-mail address: name@example.com.', {
      field: 'email',
    })
  }
  return {
    ...body,
    ...(name !== undefined && { name: name.trim() }),
    ...(reference !== undefined && { reference: reference?.trim() ?? null }),
    ...(email !== undefined && { email: email?.trim() ?? null }),
  }
}
