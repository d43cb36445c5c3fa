import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { AppliedFunction, FunctionFile } from './migrations-store.ts'

/** Reads `functions/<feature>/<name>.sql` in a folder of migrations: none if there is no such folder. Each comes after those that it names. */
export async function readFunctionFiles(directory: string): Promise<FunctionFile[]> {
  const paths = await Array.fromAsync(glob('functions/*/*.sql', { cwd: directory }))
  const files = await Promise.all(
    paths.toSorted().map(async (file) => {
      const sql = await readFile(path.join(directory, file), 'utf8')
      return { name: path.basename(file, '.sql'), checksum: createHash('sha256').update(sql).digest('hex'), sql }
    }),
  )
  return inOrder(files)
}

/** PostgreSQL looks up what a body after `return` names when the function is created. Functions that name each other stay as they are. */
function inOrder(files: readonly FunctionFile[]): FunctionFile[] {
  const byName = new Map(files.map((file) => [file.name, file]))
  const ordered = new Set<FunctionFile>()
  const entered = new Set<FunctionFile>()
  function enter(file: FunctionFile): void {
    if (entered.has(file)) return
    entered.add(file)
    for (const name of namesIn(file.sql)) {
      const named = byName.get(name)
      if (named) enter(named)
    }
    ordered.add(file)
  }
  files.forEach(enter)
  return [...ordered]
}

/** The names of the functions called in a text. */
const namesIn = (sql: string): string[] =>
  Array.from(sql.replaceAll(/--.*/g, '').matchAll(/\b(\w+)\(/g), ([, name = '']) => name)

/** The functions that the statements of a schema need, which PostgreSQL creates without a look at their bodies, except those after `return`. */
export function neededFunctions(files: readonly FunctionFile[], schema: string): ReadonlySet<FunctionFile> {
  const byName = new Map(files.map((file) => [file.name, file]))
  const needed = new Set<FunctionFile>()
  function need(sql: string): void {
    for (const name of namesIn(sql)) {
      const file = byName.get(name)
      if (!file || needed.has(file)) continue
      needed.add(file)
      if (!file.sql.includes('$$')) need(file.sql)
    }
  }
  need(schema)
  return needed
}

/** Those whose text differs from what was applied. */
export function changedFunctions(
  files: readonly FunctionFile[],
  applied: readonly AppliedFunction[],
): readonly FunctionFile[] {
  const known = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  return files.filter(({ name, checksum }) => known.get(name) !== checksum)
}
