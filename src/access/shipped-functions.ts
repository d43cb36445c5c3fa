import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

const migrations = path.join(import.meta.dirname, '../../migrations')

/** The body of each function that the migrations create, by name; a later definition replaces an earlier one. */
export async function readShippedFunctions(): Promise<Map<string, string>> {
  const files = (await readdir(migrations)).filter((name) => name.endsWith('.sql')).toSorted()
  const texts = await Promise.all(files.map((file) => readFile(path.join(migrations, file), 'utf8')))
  return functionsOf(texts.join('\n'))
}

const definition =
  /^drop function (?<dropped>\w+)|^create (?:or replace )?function (?<name>\w+)\((?:(?!^create )[^])*?\bas\s+(?<quote>\$\w*\$)(?<body>[^]*?)\k<quote>/gm

/** Leaves out functions that the migrations build at run time (indented): their text differs between databases. */
export function functionsOf(sql: string): Map<string, string> {
  const functions = new Map<string, string>()
  for (const { groups = {} } of sql.matchAll(definition)) {
    const { dropped, name, body } = groups
    if (dropped !== undefined) functions.delete(dropped)
    if (name !== undefined && body !== undefined) functions.set(name, body)
  }
  return functions
}
