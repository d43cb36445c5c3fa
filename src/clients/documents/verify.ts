import { createHash } from 'node:crypto'
import type { Database } from '../../platform/database/database.ts'
import { withSnapshot } from '../../platform/database/snapshot-store.ts'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import { checkOf, maxFaults, runChecks, turnOfToday, type VerifyCheck } from '../../platform/verify-checks.ts'
import { chunksOf, DamagedContent } from './contents.ts'
import { isStorageAway, type Storage } from './storage/storage.ts'
import { isStored, readContentsAfter, readStoredChunk, versionsWithoutContent, type VerifiedContent } from './store.ts'

interface DocumentOptions {
  /** Without it, contents are counted, but not read. */
  readonly encryption?: Pick<Encryption, 'decryptBytes'> | undefined
  /** Where the bytes are that are not in the database. Without it, contents are counted, but not read. */
  readonly storage?: Pick<Storage, 'read'> | undefined
  /** Reads every content, not one of several equal parts. */
  readonly full?: boolean
  /** Which part to read. Default: another one each day. */
  readonly turn?: number
  /** Called with a line of progress. */
  readonly onProgress?: (line: string) => void
}

/** Contents are divided into this many parts, by the first byte of their digests. One part is read each day. */
const parts = 32

/**
 * Checks that the content of every version of a document is there, and that its bytes are those that were uploaded: encrypted with the
 * installation's key, for their place, and with the digest that the sealed revision has.
 */
export async function verifyDocuments(database: Database, options: DocumentOptions = {}): Promise<VerifyCheck[]> {
  const { encryption, storage, full = false, turn = turnOfToday(), onProgress } = options
  const checks = await runChecks(database, {
    'every version of a document has its content': `select * from (${versionsWithoutContent}) v`,
  })
  if (encryption === undefined || storage === undefined) return checks
  const part = turn % parts
  const isRead = ({ digest }: VerifiedContent) => full || (digest[0] ?? 0) % parts === part
  const faults: object[] = []
  let [last, read]: [VerifiedContent | undefined, number] = [undefined, 0]
  for (;;) {
    const contents = await withSnapshot(database, (tx) => readContentsAfter(tx, last))
    for (const content of contents.filter((each) => isRead(each))) {
      const fault = await faultOf(database, { encryption, storage }, content)
      if (fault !== undefined)
        faults.push({ client: content.client_id, content: content.digest.toString('hex'), fault })
    }
    last = contents.at(-1)
    read += contents.length
    if (last === undefined || faults.length >= maxFaults) break
    onProgress?.(`documents: ${read} contents`)
  }
  const check = checkOf('the bytes of every document are those that were uploaded', faults)
  return [...checks, full ? check : { ...check, sample: `part ${part + 1} of ${parts}` }]
}

/** What is wrong with a content. Nothing, if it was removed since it was listed: its client was erased, or no document was made of it. */
async function faultOf(
  database: Database,
  needs: { readonly encryption: Pick<Encryption, 'decryptBytes'>; readonly storage: Pick<Storage, 'read'> },
  content: VerifiedContent,
): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    // A transaction each, because a storage may be slow.
    const find = (_: string, start: number) => withSnapshot(database, (tx) => readStoredChunk(tx, content, start))
    for await (const bytes of chunksOf(needs, content, find)) hash.update(bytes)
  } catch (error) {
    if (isStorageAway(error)) return 'its storage is unavailable'
    if (!(error instanceof DamagedContent)) throw error
    return (await withSnapshot(database, (tx) => isStored(tx, content))) ? error.message : undefined
  }
  return hash.digest().equals(content.digest) ? undefined : 'its bytes have another digest'
}
