import { randomBytes } from 'node:crypto'
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { OperatorError } from '../problems.ts'

/** A configuration file as it was read. */
interface RewritableFile {
  readonly text: string
  /**
   * Replaces the file in one step by another text, with the same permissions. `check` gets the path of a draft in the
   * same folder and throws if the file must stay. Throws OperatorError if the file has changed since it was read, or
   * cannot be written; nothing is changed then. A dry run does all of it but the last step.
   */
  replace(text: string, check: (draft: string) => void, isDryRun: boolean): Promise<void>
}

/** Reads a file to rewrite it. A link stays a link. Throws OperatorError. */
export async function readToRewrite(file: string): Promise<RewritableFile> {
  const place = await explained(file, () => realpath(file))
  const bytes = await explained(file, () => readFile(place))
  return Object.freeze({
    text: bytes.toString(),
    async replace(text: string, check: (draft: string) => void, isDryRun: boolean) {
      const draft = `${place}.${randomBytes(6).toString('hex')}`
      try {
        await explained(file, () => write(draft, text, place))
        check(draft)
        if (!bytes.equals(await explained(file, () => readFile(place)))) {
          throw new OperatorError(`${file} was changed in the meantime, so nothing was written. Run the command again.`)
        }
        if (!isDryRun) await explained(file, () => rename(draft, place))
      } finally {
        await rm(draft, { force: true })
      }
    },
  })
}

/** The draft has the owner and the permissions of the file, which the service must be able to read and others may not. */
async function write(draft: string, text: string, like: string): Promise<void> {
  const { mode, uid, gid } = await stat(like)
  const handle = await open(draft, 'wx', 0o600)
  try {
    const own = await handle.stat()
    if (own.uid !== uid || own.gid !== gid) await handle.chown(uid, gid)
    await handle.chmod(mode & 0o777)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function explained<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!(error instanceof Error) || code === '') throw error
    throw new OperatorError(`${file} cannot be rewritten (${code}), so nothing was written.`, { cause: error })
  }
}
