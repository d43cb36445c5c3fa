import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { functionsOf } from './sql-functions.ts'

const migrations = path.join(import.meta.dirname, '../../migrations')

/** The body of each function that the migrations create, by name; a later definition replaces an earlier one. */
export async function readShippedFunctions(): Promise<Map<string, string>> {
  const files = (await readdir(migrations)).filter((name) => name.endsWith('.sql')).toSorted()
  const texts = await Promise.all(files.map((file) => readFile(path.join(migrations, file), 'utf8')))
  return functionsOf(texts.join('\n'))
}
