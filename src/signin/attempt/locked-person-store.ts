import type { Role } from '../../access/actor.ts'
import type { Queryable } from '../../platform/database/database.ts'

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

/**
 * The person of a session. Undefined also if the session has ended: a recovery of the account, which ends
 * its sessions, takes the same lock.
 */
export async function lockSignedIn(
  tx: Queryable,
  session: { readonly id: string; readonly person: { readonly id: string } },
): Promise<LockedPerson | undefined> {
  const person = await lockActivePerson(tx, session.person.id)
  // A statement of its own: it sees what was committed while the lock was awaited.
  const rows = await tx.rows('select 1 from session where id = $1 and person_id = $2', [session.id, session.person.id])
  return rows.length > 0 ? person : undefined
}
