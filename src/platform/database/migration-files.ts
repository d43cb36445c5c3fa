import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../problems.ts'
import { earlierChecksums } from './earlier-checksums.ts'
import { codeOf } from './failure.ts'
import type { AppliedMigration } from './migrations-store.ts'

/** A migration that this version of Tollgate ships. */
export interface MigrationFile extends AppliedMigration {
  readonly sql: string
}

export const shippedMigrations = join(import.meta.dirname, '../../../migrations')

/** Reads the migrations of a folder, in order. */
export async function readMigrations(directory: string): Promise<MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).toSorted()
  return Promise.all(
    names.map(async (file) => {
      const sql = await readFile(join(directory, file), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { number: Number(file.slice(0, 4)), name: file.slice(0, -'.sql'.length), checksum, sql }
    }),
  )
}

/** Reads the statements that make a new database, with all that the migrations of the folder do. Undefined if it has none. */
export async function readSchema(directory: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, 'schema.sql'), 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Returns the files not yet applied. Throws OperatorError if the database is newer than the files, or if an applied
 * migration differs from its file.
 */
export function pendingMigrations(
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): MigrationFile[] {
  const newer = applied[files.length]
  if (newer !== undefined) {
    throw new OperatorError(
      `The database schema is newer than this version of Tollgate: it has the migration ${newer.name}. Run the newer version.`,
    )
  }
  for (const [index, migration] of applied.entries()) {
    const file = files[index]
    if (file?.number !== migration.number || !isTextOf(file, migration.checksum)) {
      throw new OperatorError(
        `The file of migration ${migration.name} differs from what was applied to the database. Restore the file, and put changes in a new one.`,
      )
    }
  }
  return files.slice(applied.length)
}

const isTextOf = ({ name, checksum }: MigrationFile, applied: string): boolean =>
  applied === checksum || applied === earlierChecksums.get(name)
