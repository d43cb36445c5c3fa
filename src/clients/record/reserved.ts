import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { roleOf } from '../../access/policy.ts'

/** Fields that set the owner of a record or a role, under any likely name. Consultants may not send them. */
const reserved = ['consultant_id', 'consultant', 'owner', 'owner_id', 'role', 'client_id', 'client']

/** Throws Problem `forbidden` if anyone but a partner sends such a field, and writes an audit event. */
export async function refuseReserved(access: RecordAccess, visit: Visit, body: unknown): Promise<void> {
  if (roleOf(visit.actor) === 'partner' || typeof body !== 'object' || body === null) return
  const field = reserved.find((name) => Object.hasOwn(body, name))
  if (field === undefined) return
  const deed = { action: 'client_assigned', details: { field } }
  await access.forbid(visit, deed, `Only partners may assign records: omit ${field}.`, field)
}
