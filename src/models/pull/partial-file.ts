import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'

/** Identifies the file at its address, so that a later request can resume the download. */
export interface DownloadOrigin {
  readonly address: string
  /** A strong ETag, or a Last-Modified date. */
  readonly validator: string
}

/** An incomplete download: `<file>.part`, and `<file>.part.json` with its origin. */
export interface PartialFile extends AsyncDisposable {
  /** Bytes received. */
  size(): number
  origin(): DownloadOrigin | undefined
  /** Empties the file. The next bytes come from `origin`. Without an origin, the download cannot be resumed. */
  restart(origin: DownloadOrigin | undefined): Promise<void>
  append(bytes: Uint8Array): Promise<void>
  /** SHA-256 of the received bytes, in lower-case hex. */
  digest(): string
  /** The path of the incomplete file. */
  readonly path: string
  /** Gives the file its final name, durably. */
  finish(): Promise<void>
  remove(): Promise<void>
}

/** Opens the incomplete download of `file`, or creates one. */
export async function openPartialFile(file: string): Promise<PartialFile> {
  const partPath = `${file}.part`
  const notePath = `${partPath}.json`
  let origin = await readNote(notePath)
  const handle = await open(partPath, 'a', 0o644)
  let size = (await handle.stat()).size
  if (origin === undefined && size > 0) {
    await handle.truncate(0)
    size = 0
  }
  let hash = await hashOf(partPath, size)

  return {
    path: partPath,
    size: () => size,
    origin: () => origin,
    async restart(next) {
      await handle.truncate(0)
      size = 0
      hash = createHash('sha256')
      origin = next
      if (next === undefined) await rm(notePath, { force: true })
      else await writeFile(notePath, JSON.stringify(next))
    },
    async append(bytes) {
      await handle.appendFile(bytes)
      hash.update(bytes)
      size += bytes.byteLength
    },
    digest: () => hash.copy().digest('hex'),
    async finish() {
      await handle.sync()
      await rename(partPath, file)
      await rm(notePath, { force: true })
    },
    async remove() {
      await rm(partPath, { force: true })
      await rm(notePath, { force: true })
    },
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

async function hashOf(file: string, size: number): Promise<Hash> {
  const hash = createHash('sha256')
  if (size === 0) return hash
  for await (const chunk of createReadStream(file)) if (chunk instanceof Uint8Array) hash.update(chunk)
  return hash
}

async function readNote(file: string): Promise<DownloadOrigin | undefined> {
  try {
    const note: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (typeof note !== 'object' || note === null || !('address' in note) || !('validator' in note)) return undefined
    const { address, validator } = note
    return typeof address === 'string' && typeof validator === 'string' ? { address, validator } : undefined
  } catch {
    return undefined
  }
}

export async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
