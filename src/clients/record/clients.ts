import * as store from './store.ts'
import { lockAssignments, type AuditedAction, type RecordAccess } from '../../access/access.ts'
import { personIdOf, type Visit } from '../../access/actor.ts'
import { may, scopeOf } from '../../access/policy.ts'
import { readEmail } from '../../people/email.ts'
import { Problem } from '../../platform/problems.ts'
import { readBilling } from './billing.ts'
import { newId } from '../../access/new-id.ts'
import { archived, stale } from '../items/outcomes.ts'
import { readAddress } from '../../platform/text/postal-address.ts'
import { createClientList } from '../list/listing.ts'
import { presentRecord, type ShownRecord } from '../present.ts'
import { violates } from '../../platform/database/failure.ts'
import type { ClientChange, ClientList, ClientQuery, NewClient } from '../schema.ts'
import type { Basis } from '../../platform/http/versions.ts'
import { recordId } from '../../platform/database/uuid.ts'
import { readActivePerson } from './store.ts'

/**
 * Client records. Every method applies the policy, writes an audit event whether it allows or refuses, and throws what
 * `RecordAccess.refuse` throws if the actor cannot see the client.
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
  /**
   * Takes back a deletion. A client that is not deleted stays as it is. Throws Problem `conflict` if its consultant has given
   * its reference to another client since, and `forbidden` if the actor may not delete clients.
   */
  restore(visit: Visit, id: string): Promise<ShownRecord>
}

const auditedOf = (verb: string, clientId: string): AuditedAction => ({
  action: `client_${verb}`,
  noun: 'client',
  clientId,
  nounId: clientId,
})

export function createClients({ access, currency }: { access: RecordAccess; currency: string }): Clients {
  const refused =
    (visit: Visit, audited: AuditedAction, advice = 'Choose another.') =>
    (error: unknown) => {
      if (violates(error, 'client_reference')) return access.decline(visit, audited, referenceTaken(error, advice))
      throw error
    }

  return Object.freeze<Clients>({
    async read(visit, id) {
      const [[row]] = await access.as(visit, [store.readRecord(scopeOf(visit.actor, 'read', 'client'), id)])
      const audited = auditedOf('read', id)
      if (!row || !may(visit.actor, 'read', 'client', ownerOf(row))) return access.refuse(visit, audited)
      await access.note(visit, audited)
      return presentRecord(row, currency)
    },

    list: createClientList(access),

    async create(visit: Visit, client: NewClient, key?: string) {
      const id = newId(visit, 'clients', key)
      const columns = { ...columnsOf(client), consultant_id: client.consultant_id ?? personIdOf(visit.actor) }
      const read = store.readRecord(scopeOf(visit.actor, 'create', 'client'), id)
      // In a retry, the assigned consultant may have left since the first call.
      const exists = async () => key !== undefined && (await access.as(visit, [read]))[0].length > 0
      if (columns.consultant_id !== personIdOf(visit.actor) && !(await exists())) {
        await requireAssignable(access, visit, columns.consultant_id)
      }
      const lock = lockAssignments(columns.consultant_id ?? '')
      const insert = () => access.as(visit, [lock, store.insertClient(visit, id, columns), read])
      const [, [inserted], [row]] = await insert()
        .catch((error: unknown) => {
          if (key === undefined || !violates(error, 'client_reference')) throw error
          // A concurrent call with the same key can violate the reference's uniqueness first. By now its id exists.
          return insert()
        })
        .catch(refused(visit, { action: 'client_created', noun: 'client' }))
      if (row && !inserted) await access.note(visit, auditedOf('read', id))
      return row ? presentRecord(row, currency) : access.refuse(visit, auditedOf('created', id))
    },

    async change(visit, id, { basis, body }) {
      const scope = scopeOf(visit.actor, 'change', 'client')
      const audited = auditedOf('changed', id)
      if (body.consultant_id !== undefined) await requireAssignable(access, visit, body.consultant_id)
      const assigns = scopeOf(visit.actor, 'assign', 'client').of !== 'none'
      const [, [change], [row]] = await access
        .as(visit, [
          lockAssignments(body.consultant_id ?? ''),
          store.updateClient(scope, { visit, id, basis, columns: columnsOf(body), assigns }),
          store.readRecord(scope, id),
        ])
        .catch(refused(visit, audited))
      if (!row || !may(visit.actor, 'change', 'client', ownerOf(row))) return access.refuse(visit, audited)
      const record = presentRecord(row, currency)
      if (change) {
        if (!change.changed) await access.note(visit, auditedOf('read', id))
        return record
      }
      const staysArchived = row.status === 'archived' && body.status === undefined
      return access.decline(visit, audited, staysArchived ? archived() : stale(record))
    },

    async remove(visit, id, basis) {
      const scope = scopeOf(visit.actor, 'remove', 'client')
      if (scope.of === 'none')
        return access.forbid(visit, auditedOf('removed', id), 'Only partners may delete clients.')
      const [[row], [changed]] = await access.as(visit, [
        store.readRecord(scope, id),
        store.deleteClient(scope, { visit, id, basis }),
      ])
      const audited = auditedOf('removed', id)
      if (!row || !may(visit.actor, 'remove', 'client', ownerOf(row))) return access.refuse(visit, audited)
      if (!changed) await access.decline(visit, audited, stale(presentRecord(row, currency)))
    },

    async restore(visit, id) {
      const scope = scopeOf(visit.actor, 'remove', 'client')
      const audited = auditedOf('restored', id)
      if (scope.of === 'none') return access.forbid(visit, audited, 'Only partners may restore deleted clients.')
      const [[restored], [row]] = await access
        .as(visit, [store.restoreClient(scope, visit, id), store.readRecord(scope, id)])
        .catch(refused(visit, audited, 'Change the reference of the other client first.'))
      if (!row || !may(visit.actor, 'remove', 'client', ownerOf(row))) return access.refuse(visit, audited)
      if (!restored) await access.note(visit, auditedOf('read', id))
      return presentRecord(row, currency)
    },
  })
}

const ownerOf = ({ consultant_id: consultantId }: { readonly consultant_id: string }) => ({ consultantId })

function referenceTaken(cause: unknown, advice: string): Problem {
  return new Problem('conflict', `The consultant already has a client with this reference. ${advice}`, {
    field: 'reference',
    cause,
  })
}

/** The columns to write, with trimmed texts. Throws Problem `invalid_field`. */
function columnsOf(body: ClientChange): store.ClientColumns {
  const { name, reference, email, address } = body
  if (typeof email === 'string' && readEmail(email) === undefined) {
    throw new Problem('invalid_field', 'The field email must be an email address: name@example.com.', {
      field: 'email',
    })
  }
  return {
    ...body,
    ...(name !== undefined && { name: name.trim() }),
    ...(reference !== undefined && { reference: reference?.trim() ?? null }),
    ...(email !== undefined && { email: email?.trim() ?? null }),
    ...(address !== undefined && { address: readAddress(address) }),
    ...readBilling(body),
  }
}

/** Throws Problem `forbidden` or `invalid_field` unless the actor may assign a client to this active person. */
async function requireAssignable(access: RecordAccess, visit: Visit, consultantId: string | undefined): Promise<void> {
  if (!may(visit.actor, 'assign', 'client')) {
    const audited = { action: 'client_assigned', noun: 'client' }
    return access.forbid(visit, audited, 'Only partners may assign clients: omit consultant_id.', 'consultant_id')
  }
  const [[person]] = await access.as(visit, [readActivePerson(recordId(consultantId ?? ''))])
  if (person) return
  throw new Problem('invalid_field', 'The field consultant_id must be the id of an active person.', {
    field: 'consultant_id',
  })
}
