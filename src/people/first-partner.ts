import { randomUUIDv7 } from 'node:crypto'
import { byService } from '../access/actor.ts'
import type { Audit, AuditEntry } from '../access/audit/audit.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { aboutPerson, withdrawals } from './change.ts'
import { readEmail, type Email } from './email.ts'
import { endGrants } from './grants/end.ts'
import { insertPerson, lockFirstPartner, lockPartners, readPersonByEmail, updatePerson } from './store.ts'
import { withdrawOf } from './invitations/store.ts'

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  /** `sign_in.first_partner`; the rule of the configuration has checked it. */
  readonly address: string | undefined
}

/**
 * If the firm has no active partner, makes the person with this address one, or enters them. Does nothing once there is
 * one. Someone who was disabled stays so.
 */
export async function ensureFirstPartner({ database, audit, address }: Needs): Promise<void> {
  const email = readEmail(address ?? '')
  if (email === undefined) return
  await database.transaction(async (tx) => {
    await lockFirstPartner(tx)
    if ((await lockPartners(tx)).length > 0) return
    await audit.recordWithin(tx, await enter(tx, email))
  })
}

/** Returns what to record. */
async function enter(tx: Queryable, email: Email): Promise<AuditEntry[]> {
  const by = { ...byService, outcome: 'allowed' } as const
  const known = await readPersonByEmail(tx, email.key)
  if (known === undefined) {
    const id = randomUUIDv7()
    const { address, key: emailKey } = email
    await insertPerson(tx, { id, name: address, email: address, emailKey, role: 'partner', createdAt: new Date() })
    const withdrawn = await withdrawOf(tx, emailKey, new Date())
    const entered = { ...by, action: 'person_created', ...aboutPerson(id), details: { role: 'partner' } }
    return [entered, ...withdrawals(withdrawn, byService)]
  }
  await updatePerson(tx, known.id, { role: 'partner' })
  const details = { from: known.role, to: 'partner' }
  const changed = { ...by, action: 'role_changed', ...aboutPerson(known.id), details }
  return [changed, ...(await endGrants(tx, known.id, byService))]
}
