import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { roleOf } from '../access/policy.ts'

/** Fields that say whose a record is or what somebody may do: a consultant sends none of them, under any name. */
const reserved = ['consultant_id', 'consultant', 'owner', 'owner_id', 'role', 'client_id', 'client']

/** Throws Problem `forbidden` for a body with such a field that is not a partner's, and notes it in the audit log. */
export async function refuseReserved(access: RecordAccess, visit: Visit, body: unknown): Promise<void> {
  if (roleOf(visit.actor) === 'partner' || typeof body !== 'object' || body === null) return
  const field = reserved.find((name) => Object.hasOwn(body, name))
  if (field === undefined) return
  const deed = { action: 'client_assigned', details: { field } }
  await access.forbid(visit, deed, `Only a partner decides whose a record is: leave ${field} out.`, field)
}
