import type { Role } from '../access/actor.ts'
import type { Queryable } from '../platform/database/database.ts'

/** A person whose row is locked until the transaction ends. */
export interface LockedPerson {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly role: Role
}

/** Undefined if the person may not sign in. */
export async function lockActivePerson(tx: Queryable, personId: string): Promise<LockedPerson | undefined> {
  const [person] = await tx.rows<LockedPerson>(
    `select id, name, email, role from person where id = $1 and status = 'active' for no key update`,
    [personId],
  )
  return person
}
