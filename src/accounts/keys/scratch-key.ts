import { randomUUIDv7 } from 'node:crypto'
import type { Visit } from '../../access/actor.ts'
import { recordWithin } from '../../access/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { changeEvent } from '../events.ts'
import { createTextlessKey } from './new-key.ts'
import { insertScratchKey, readScratchKey, renewScratchKey, type ScratchKeyRow } from './store.ts'

/** A person's use of their scratch key on an account. */
export interface ScratchUse {
  readonly person: { readonly id: string; readonly name: string }
  readonly accountId: string
}

/**
 * The scratch key, created at its first use and renewed by later ones. It is read from the database at each use, so that a
 * revocation takes effect at once on every instance. Throws Problem `revoked_key`.
 */
export async function useScratchKey(database: Database, use: ScratchUse, by: Visit): Promise<ScratchKeyRow> {
  const of = { personId: use.person.id, accountId: use.accountId }
  const key = (await readScratchKey(database, of)) ?? (await create(database, use, by))
  if (key.replaceableAt !== null) throw revoked(key.replaceableAt)
  if (key.isDue) await renewScratchKey(database, key)
  return key
}

async function create(database: Database, { person, accountId }: ScratchUse, by: Visit): Promise<ScratchKeyRow> {
  const of = { personId: person.id, accountId }
  const name = `Scratch key of ${person.name}`.slice(0, longestName).toWellFormed()
  const key = { ...of, id: randomUUIDv7(), name, ...createTextlessKey() }
  await database.transaction(async (tx) => {
    if (!(await insertScratchKey(tx, key))) return
    const details = { name, account: accountId, models: 'all', expires: '24 hours after its last use' }
    await recordWithin(tx, [changeEvent(by, 'key_created', key.id, details)])
  })
  const created = await readScratchKey(database, of)
  if (created) return created
  throw new Error('a scratch key was neither created nor refused')
}

const longestName = 200

function revoked(replaceableAt: Date): Problem {
  const time = replaceableAt.toISOString().slice(0, 16).replace('T', ' ')
  return new Problem('revoked_key', `Your scratch key was revoked. You can get a new one from ${time} UTC on.`)
}
