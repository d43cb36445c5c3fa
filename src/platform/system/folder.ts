import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../database/failure.ts'

/**
 * Makes a folder and those above it that are missing; nothing where it is there. Throws the error of the system. Node's
 * own `recursive` tries for ever where the folder above is there and the system says that it is not, as in /proc.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  const above = dirname(folder)
  try {
    await makeOne(folder, mode)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || above === folder) throw error
    await makeFolder(above, mode)
    // Once more and not for ever: the folder above is there now, whoever made it.
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
