import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { may } from '../../access/policy.ts'
import { Problem } from '../../platform/problems.ts'
import { recordId } from '../ids.ts'
import { readActivePerson } from './store.ts'

/** Throws Problem `forbidden` or `invalid_field` unless the actor may assign a client to this active person. */
export async function requireAssignable(
  access: RecordAccess,
  visit: Visit,
  consultantId: string | undefined,
): Promise<void> {
  if (!may(visit.actor, 'assign', 'client')) {
    const deed = { action: 'client_assigned', noun: 'client' }
    return access.forbid(visit, deed, 'Only partners may assign clients: omit consultant_id.', 'consultant_id')
  }
  const [[person]] = await access.as(visit, [readActivePerson(recordId(consultantId ?? ''))])
  if (person) return
  throw new Problem('invalid_field', 'The field consultant_id must be the id of an active person.', {
    field: 'consultant_id',
  })
}
