import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../database/failure.ts'

/**
 * Creates a folder and its missing parents, unless it exists. Throws the system's error. Node's `recursive` option loops
 * forever if the parent exists and mkdir returns ENOENT, as in /proc.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  const parent = dirname(folder)
  try {
    await makeOne(folder, mode)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || parent === folder) throw error
    await makeFolder(parent, mode)
    // Only once more: the parent exists now.
    await makeOne(folder, mode)
  }
}

async function makeOne(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, mode)
  } catch (error) {
    const isThere = await stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    )
    if (!isThere) throw error
  }
}
