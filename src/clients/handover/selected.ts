import * as store from './store.ts'
import { lockAssignments, type RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { scopeOf, type Scope } from '../../access/policy.ts'
import { Problem } from '../../platform/problems.ts'
import { recordId } from '../../platform/database/uuid.ts'
import { violates } from '../../platform/database/failure.ts'
import type { SelectedHandover } from '../schema.ts'
import { readActivePerson } from '../record/store.ts'

/** A refusal names at most this many clients. */
const named = 20

/**
 * Returns the function that assigns selected clients to a person, all or none, and returns how many were not theirs already.
 * Throws Problem `forbidden` for anyone but partners, `invalid_field` if any of the clients does not exist, without saying
 * which, or if the person is not active, `stale_version` with the clients that have changed since they were selected, and
 * `conflict` if a consultant would have a reference twice.
 */
export function createSelectedHandover(access: RecordAccess) {
  const audited = { action: 'client_assigned', noun: 'client' }
  return handOver

  async function handOver(visit: Visit, { clients, to }: SelectedHandover): Promise<number> {
    const scope = scopeOf(visit.actor, 'assign', 'client')
    if (scope.of === 'none') return access.forbid(visit, audited, 'Only partners may assign clients.')
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
      return access.decline(visit, audited, invalid('clients', 'must have only ids of clients that exist'))
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
    return access.decline(visit, audited, new Problem('conflict', reason, { field: 'clients', cause: error }))
  }

  async function refuseChanged(visit: Visit, scope: Scope, selected: readonly store.SelectedClient[]): Promise<never> {
    const [changed] = await access.as(visit, [store.readChangedSelected(scope, selected)])
    const names = changed.slice(0, named).map(({ name }) => name)
    const more = changed.length > named ? ` and ${changed.length - named} more` : ''
    const reason = `Changed since you selected them: ${names.join(', ')}${more}. Nothing was handed over. Look at them again.`
    return access.decline(visit, audited, new Problem('stale_version', reason, { current: { clients: changed } }))
  }
}

function invalid(field: string, why: string): Problem {
  return new Problem('invalid_field', `The field ${field} ${why}.`, { field })
}
