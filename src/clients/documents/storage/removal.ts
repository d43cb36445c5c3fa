import type { Database } from '../../../platform/database/database.ts'
import type { Place } from './object-store.ts'
import type { Storage } from './storage.ts'
import { deleteObjects, readUnneeded, type UnneededObject } from './store.ts'

interface RemovalNeeds {
  readonly database: Database
  readonly storage: Pick<Storage, 'places' | 'remove'>
}

/** After so many failures a place is left alone: one that does not answer takes half a minute for each. */
const failuresAtMost = 2

/**
 * Removes some objects that no chunk needs, and returns how many; 0 if none are left. They are forgotten only when they are gone. One that
 * cannot be removed holds up no others. Throws the first error if nothing could be removed at all.
 */
export async function removeObjects({ database, storage }: RemovalNeeds): Promise<number> {
  const errors: unknown[] = []
  async function removeAt(place: Place): Promise<number> {
    const removed: UnneededObject[] = []
    let failures = 0
    for (const object of await readUnneeded(database, place)) {
      try {
        await storage.remove(place, object.digest)
        removed.push(object)
      } catch (error) {
        errors.push(error)
        failures++
        if (failures === failuresAtMost) break
      }
    }
    if (removed.length > 0) await deleteObjects(database, removed)
    return removed.length
  }
  let removed = 0
  for (const place of storage.places) removed += await removeAt(place)
  if (removed === 0 && errors.length > 0) throw errors[0]
  return removed
}
