import type { Database } from '../../../platform/database/database.ts'
import type { Storage } from './storage.ts'
import { deleteObjects, readUnneeded } from './store.ts'

interface RemovalNeeds {
  readonly database: Database
  readonly storage: Pick<Storage, 'places' | 'remove'>
}

/** Removes some objects that no chunk needs, and returns how many; 0 if none are left. They are forgotten only when they are gone. */
export async function removeObjects({ database, storage }: RemovalNeeds): Promise<number> {
  const unneeded = await readUnneeded(database, storage.places)
  for (const { place, digest } of unneeded) await storage.remove(place, digest)
  if (unneeded.length > 0) await deleteObjects(database, unneeded)
  return unneeded.length
}
