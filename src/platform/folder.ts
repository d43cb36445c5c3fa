import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from './database-failure.ts'

/**
 * Makes a folder and those above it that are missing; nothing where it is there. Throws the error of the system. Node's
 * own `recursive` tries for ever where the folder above is there and the system says that it is not, as in /proc.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(folder, mode)
  } catch (error) {
    if (await isFolder(folder)) return
    const parent = dirname(folder)
    if (codeOf(error) !== 'ENOENT' || (await isFolder(parent))) throw error
    await makeFolder(parent, mode)
    await makeFolder(folder, mode)
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
