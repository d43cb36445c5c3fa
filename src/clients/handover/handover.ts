import type { SelectedHandover } from '../schema.ts'
import * as store from './store.ts'
import { lockAssignments, type AuditedAction, type RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { scopeOf, type Scope } from '../../access/policy.ts'
import { Problem } from '../../platform/problems.ts'
import { recordId } from '../../platform/database/uuid.ts'
import { violates } from '../../platform/database/failure.ts'
import { readActivePerson } from '../record/store.ts'

/** What handing over a person's clients would do. */
export interface HandoverPreview extends store.HandoverCount {
  /** The first of them, by name. */
  readonly clients: readonly store.NamedClient[]
  /** Clients whose reference the receiving person already uses: they prevent the hand-over. */
  readonly conflicts: readonly store.NamedClient[]
}

/** Handing over all clients of a person. Both ids are of people. Throws Problem `forbidden` for anyone but partners. */
export interface Handover {
  /** The number of clients of a person, including archived ones. */
  count(this: void, visit: Visit, personId: string): Promise<number>
  preview(this: void, visit: Visit, from: string, to: string | undefined): Promise<HandoverPreview>
  /**
   * Assigns all clients, including archived ones, or none. Returns how many. Throws Problem `invalid_field` if the
   * receiving person is not active, `conflict` if both have a client with the same reference.
   */
  perform(this: void, visit: Visit, parties: store.HandoverParties): Promise<number>
}

/** A preview and a refusal name at most this many clients. */
const named = 20
const assigned: AuditedAction = { action: 'client_assigned', noun: 'client' }

/** The clients that a person may assign. Throws Problem `forbidden` for anyone but partners. */
async function assignableBy(access: RecordAccess, visit: Visit): Promise<Scope> {
  const scope = scopeOf(visit.actor, 'assign', 'client')
  return scope.of === 'none' ? access.forbid(visit, assigned, 'Only partners may assign clients.') : scope
}

export function createHandover({ access }: { readonly access: RecordAccess }): Handover {
  const previewed = { action: 'clients_listed', noun: 'client' }
  const scope = (visit: Visit) => assignableBy(access, visit)

  return Object.freeze<Handover>({
    async count(visit, personId) {
      const [[count]] = await access.as(visit, [store.countClientsOf(await scope(visit), personId)])
      return (count?.active ?? 0) + (count?.archived ?? 0)
    },
    async preview(visit, from, to) {
      const all = await scope(visit)
      const [[count], clients, conflicts] = await access.as(visit, [
        store.countClientsOf(all, from),
        store.readClientsOf(all, from, named),
        store.readSharedReferences(all, { from, to: recordId(to ?? '') }, named),
      ])
      await access.note(visit, { ...previewed, details: { rows: String(clients.length) } })
      return { active: count?.active ?? 0, archived: count?.archived ?? 0, clients, conflicts }
    },
    async perform(visit, { from, to }) {
      const all = await scope(visit)
      const receiver = recordId(to)
      if (receiver === from) throw invalid('to', 'must be another person')
      try {
        const [, [person], moved] = await access.as(visit, [
          lockAssignments(receiver),
          readActivePerson(receiver),
          store.handOverClients(all, visit, { from, to: receiver }),
        ])
        if (person === undefined) throw invalid('to', 'must be the id of an active person')
        return moved.length
      } catch (error) {
        if (!violates(error, 'client_reference')) throw error
        const [shared] = await access.as(visit, [store.readSharedReferences(all, { from, to: receiver }, named)])
        return access.decline(visit, assigned, sharedReferences(shared, error))
      }
    },
  })
}

function sharedReferences(clients: readonly store.NamedClient[], cause: unknown): Problem {
  const references = clients.map(({ reference }) => reference).join(', ')
  return new Problem(
    'conflict',
    `Both people have clients with these references: ${references}. Change them first. Nothing was handed over.`,
    { field: 'to', cause },
  )
}

/**
 * Returns the function that assigns selected clients to a person, all or none, and returns how many were not theirs already.
 * Throws Problem `forbidden` for anyone but partners, `invalid_field` if any of the clients does not exist, without saying
 * which, or if the person is not active, `stale_version` with the clients that have changed since they were selected, and
 * `conflict` if a consultant would have a reference twice.
 */
export function createSelectedHandover(access: RecordAccess) {
  return handOver

  async function handOver(visit: Visit, { clients, to }: SelectedHandover): Promise<number> {
    const scope = await assignableBy(access, visit)
    const selected = clients.map(({ id, version }) => ({ id: recordId(id), version }))
    const receiver = recordId(to)
    const [, [person], [outcome]] = await access
      .as(visit, [
        lockAssignments(receiver),
        readActivePerson(receiver),
        store.handOverSelected(scope, visit, { clients: selected, to: receiver }),
      ])
      .catch((error: unknown) => {
        if (violates(error, 'client_reference')) return refuseReferences(visit, scope, { selected, receiver, error })
        throw error
      })
    if (!person) throw invalid('to', 'must be the id of an active person')
    if (!outcome || outcome.missing > 0) {
      return access.decline(visit, assigned, invalid('clients', 'must have only ids of clients that exist'))
    }
    return outcome.changed > 0 ? refuseChanged(visit, scope, selected) : outcome.handed_over
  }

  async function refuseReferences(
    visit: Visit,
    scope: Scope,
    { selected, receiver, error }: { selected: readonly store.SelectedClient[]; receiver: string; error: unknown },
  ): Promise<never> {
    const [shared] = await access.as(visit, [store.readSharedBySelected(scope, selected, receiver, named)])
    const references = [...new Set(shared.map(({ reference }) => reference))].join(', ')
    const reason = `A consultant would have more than one client with these references: ${references}. Change them first. Nothing was handed over.`
    return access.decline(visit, assigned, new Problem('conflict', reason, { field: 'clients', cause: error }))
  }

  async function refuseChanged(visit: Visit, scope: Scope, selected: readonly store.SelectedClient[]): Promise<never> {
    const [changed] = await access.as(visit, [store.readChangedSelected(scope, selected)])
    const names = changed.slice(0, named).map(({ name }) => name)
    const more = changed.length > named ? ` and ${changed.length - named} more` : ''
    const reason = `Changed since you selected them: ${names.join(', ')}${more}. Nothing was handed over. Look at them again.`
    return access.decline(visit, assigned, new Problem('stale_version', reason, { current: { clients: changed } }))
  }
}

function invalid(field: string, why: string): Problem {
  return new Problem('invalid_field', `The field ${field} ${why}.`, { field })
}
