import * as store from './store.ts'
import { lockAssignments, type RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { scopeOf } from '../../access/policy.ts'
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

/** How many clients a preview names. */
const named = 20

export function createHandover({ access }: { readonly access: RecordAccess }): Handover {
  const previewed = { action: 'clients_listed', noun: 'client' }
  const scope = async (visit: Visit) => {
    const assignable = scopeOf(visit.actor, 'assign', 'client')
    const audited = { action: 'client_assigned', noun: 'client' }
    return assignable.of === 'none' ? access.forbid(visit, audited, 'Only partners may assign clients.') : assignable
  }

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
      if (receiver === from) throw notReceiver('must be another person')
      try {
        const [, [person], moved] = await access.as(visit, [
          lockAssignments(receiver),
          readActivePerson(receiver),
          store.handOverClients(all, visit, { from, to: receiver }),
        ])
        if (person === undefined) throw notReceiver('must be the id of an active person')
        return moved.length
      } catch (error) {
        if (!violates(error, 'client_reference')) throw error
        const [shared] = await access.as(visit, [store.readSharedReferences(all, { from, to: receiver }, named)])
        return access.decline(visit, { action: 'client_assigned', noun: 'client' }, sharedReferences(shared, error))
      }
    },
  })
}

function notReceiver(why: string): Problem {
  return new Problem('invalid_field', `The field to ${why}.`, { field: 'to' })
}

function sharedReferences(clients: readonly store.NamedClient[], cause: unknown): Problem {
  const references = clients.map(({ reference }) => reference).join(', ')
  return new Problem(
    'conflict',
    `Both people have clients with these references: ${references}. Change them first. Nothing was handed over.`,
    { field: 'to', cause },
  )
}
