import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../../../platform/database/failure.ts'
import { makeFolder } from '../../../platform/system/folder.ts'
import { marker, StoreFault, type ObjectStore } from './object-store.ts'

/** Errors that only the operator can repair. */
const refusals = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG', 'ELOOP'])

/** A folder of this machine, or one that is mounted. The objects are in subfolders named after the first two digits of their names. */
export function openFolder(folder: string): ObjectStore {
  const title = `the folder ${folder}`
  /** The subfolders whose names would survive a crash of the machine. Another request may have made one and not flushed it yet. */
  const flushed = new Set<string>()
  const pathOf = (name: string) => path.join(folder, name.slice(0, 2), name)

  /** Throws StoreFault instead of an error of the system. */
  async function attempt<Result>(act: () => Promise<Result>): Promise<Result> {
    try {
      return await act()
    } catch (error) {
      const code = codeOf(error)
      if (error instanceof StoreFault || code === undefined) throw error
      const kind = refusals.has(code) ? 'refused' : 'away'
      throw new StoreFault(kind, `${title} cannot be used (${code}).`, error)
    }
  }

  const isMarked = async () => (await attempt(() => unlessMissing(stat(path.join(folder, marker.name))))) !== undefined

  return Object.freeze<ObjectStore>({
    place: 'folder',
    title,
    isMarked,
    async mark() {
      await attempt(async () => {
        const isNew = (await unlessMissing(stat(folder))) === undefined
        await makeFolder(folder, 0o700)
        // One that the operator made may be in a folder that this user cannot read.
        if (isNew) await flush(path.dirname(folder))
        await write(path.join(folder, marker.name), Buffer.from(marker.text))
      })
    },
    async put(name, bytes) {
      // Whether it is there now, not only when the service started: otherwise the bytes would be written below the mount point.
      if (!(await isMarked())) throw new StoreFault('away', `${title} has no file ${marker.name}. Is it mounted?`)
      await attempt(async () => {
        const subfolder = path.dirname(pathOf(name))
        const isNew = await mkdir(subfolder, { mode: 0o700 }).then(
          () => true,
          (error: unknown) => (codeOf(error) === 'EEXIST' ? false : Promise.reject(error)),
        )
        if (isNew || !flushed.has(subfolder)) await flush(folder)
        flushed.add(subfolder)
        await write(pathOf(name), bytes)
      })
    },
    get: (name) => attempt(() => unlessMissing(readFile(pathOf(name)))),
    async remove(name) {
      await attempt(async () => {
        await rm(`${pathOf(name)}.partial`, { force: true })
        await rm(pathOf(name), { force: true })
        await unlessMissing(flush(path.dirname(pathOf(name))))
      })
    },
    close: async () => undefined,
  })
}

/** Writes a file that is there as a whole or not at all, also after a crash of the machine. */
async function write(file: string, bytes: Buffer): Promise<void> {
  // A retry writes the same bytes, so both may have the same name.
  const partial = `${file}.partial`
  const handle = await open(partial, 'w', 0o600)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(partial, file)
  await flush(path.dirname(file))
}

/** Undefined if there is no such file. */
const unlessMissing = <Result>(found: Promise<Result>): Promise<Result | undefined> =>
  found.catch((error: unknown) => (codeOf(error) === 'ENOENT' ? undefined : Promise.reject(error)))

/** Makes the names in a folder survive a crash of the machine. */
async function flush(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
