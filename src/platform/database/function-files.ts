import { createHash } from 'node:crypto'
import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { AppliedFunction } from './migrations-store.ts'

/** A SQL function that this version of Tollgate ships, with its triggers and rights, if they are in its file. */
export interface FunctionFile extends AppliedFunction {
  readonly sql: string
}

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
    for (const [, name = ''] of file.sql.matchAll(/\b(\w+)\(/g)) {
      const named = byName.get(name)
      if (named) enter(named)
    }
    ordered.add(file)
  }
  files.forEach(enter)
  return [...ordered]
}

/** Those whose text differs from what was applied. */
export function changedFunctions(
  files: readonly FunctionFile[],
  applied: readonly AppliedFunction[],
): readonly FunctionFile[] {
  const known = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  return files.filter(({ name, checksum }) => known.get(name) !== checksum)
}
