import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Whether a data folder holds an embedded database. Creates nothing. */
export function hasEmbeddedDatabase(directory: string): boolean {
  return existsSync(join(directory, 'postgres', 'PG_VERSION'))
}
