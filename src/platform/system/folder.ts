import { lchown, lstat, mkdir, stat } from 'node:fs/promises'
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

/**
 * As root, gives a file to the owner of its folder. Otherwise a command that an administrator runs on the data folder of a
 * service leaves files there that the service cannot read. Follows no symbolic link: the owner
 * could have put one there to get any other file.
 */
export async function giveToFolderOwner(file: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const [{ uid, gid }, own] = await Promise.all([stat(dirname(file)), lstat(file)])
  // Some file systems have one owner for everything, and refuse to change it.
  if (uid !== 0 && own.uid !== uid && own.isFile()) await lchown(file, uid, gid)
}
