import { Readable } from 'node:stream'
import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { may, scopeOf } from '../../access/policy.ts'
import { attachmentOf } from '../../documents/file-name.ts'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import { Problem } from '../../platform/problems.ts'
import type { ChunkRow, Storage } from './storage/storage.ts'
import * as store from './store.ts'

/** The bytes of documents. */
export interface Contents {
  /**
   * The bytes of a version of a document, default the current one, and the headers with which no browser renders or runs them. Writes an
   * audit event. Throws what `RecordAccess.refuse` throws, and Problem `conflict` for a content that is damaged. The stream ends with
   * an error if the reader loses access, or a later part is damaged.
   */
  read(
    visit: Visit,
    clientId: string,
    id: string,
    version?: number,
  ): Promise<{ readonly bytes: Readable; readonly headers: Record<string, string> }>
  /**
   * The bytes of a content that was found on the record, for its export. Throws what `RecordAccess.refuse` throws, and DamagedContent at the
   * first part that is damaged.
   */
  exported(visit: Visit, clientId: string, digest: string): AsyncIterable<Uint8Array>
}

interface ContentNeeds {
  readonly access: RecordAccess
  readonly encryption: Pick<Encryption, 'decryptBytes'>
  readonly storage: Pick<Storage, 'read'>
}

/** Binds an encrypted chunk to its place. */
export const chunkContext = (uploadId: string, start: number): string => `document_chunk/${uploadId}/${start}`

export function createContents(needs: ContentNeeds): Contents {
  const { access } = needs
  return Object.freeze<Contents>({
    async read(visit, clientId, id, version) {
      const scope = scopeOf(visit.actor, 'read', 'document')
      const [[row]] = await access.as(visit, [store.readVersionContent(scope, clientId, id, version)])
      const audited = auditedOf(clientId, id)
      if (!row || !may(visit.actor, 'read', 'document', { consultantId: row.consultant_id })) {
        return access.refuse(visit, audited)
      }
      const chunks = chunksFor(needs, visit, clientId, row)
      const first = await chunks.next().catch((error: unknown) => {
        if (error instanceof DamagedContent) return access.decline(visit, audited, damaged())
        throw error
      })
      await access.note(visit, audited)
      const headers = {
        'cache-control': 'no-store',
        'content-type': row.type,
        'content-length': String(row.bytes),
        'content-disposition': attachmentOf(row.name),
        'content-security-policy': "default-src 'none'; sandbox",
      }
      return { bytes: Readable.from(continued(first, chunks), { objectMode: false }), headers }
    },

    async *exported(visit: Visit, clientId: string, digest: string) {
      const scope = scopeOf(visit.actor, 'export', 'client')
      const find = async () => {
        const [[row]] = await access.as(visit, [store.readContentOf(scope, clientId, digest)])
        return row ?? access.refuse(visit, auditedOf(clientId))
      }
      try {
        yield* chunksFor(needs, visit, clientId, await find())
      } catch (error) {
        // To someone who has lost access, a part is missing too.
        if (error instanceof DamagedContent) await find()
        throw error
      }
    },
  })
}

const auditedOf = (clientId: string, nounId?: string): AuditedAction => ({
  action: 'document_content_read',
  noun: 'document',
  clientId,
  nounId,
})

/** A part is missing, or it is not what this installation's key has encrypted for its place. */
export class DamagedContent extends Error {
  override readonly name = 'DamagedContent'
}

/** Where the bytes of a content are. Null: the content is missing. */
type StoredBytes = Pick<store.ContentRow, 'bytes' | 'upload_id'>

/** Decrypts one chunk after the other; `find` returns the one that begins at a byte. Throws DamagedContent, and what `find` and the storage throw. */
export async function* chunksOf(
  { encryption, storage }: Pick<ContentNeeds, 'encryption' | 'storage'>,
  { upload_id: uploadId, bytes }: StoredBytes,
  find: (uploadId: string, start: number) => Promise<ChunkRow | undefined>,
): AsyncGenerator<Buffer> {
  for (let start = 0; start !== bytes;) {
    const chunk = uploadId === null ? undefined : await find(uploadId, start)
    const data = chunk && (await storage.read(chunk))
    if (uploadId === null || data === undefined) throw new DamagedContent(`no bytes from ${start} on`)
    const plain = encryption.decryptBytes(data, chunkContext(uploadId, start))
    if (plain === undefined || plain.length === 0) {
      throw new DamagedContent(`the bytes from ${start} on were not written by this service`)
    }
    yield plain
    start += plain.length
  }
}

/** The same for a person. */
export function chunksFor(
  needs: ContentNeeds,
  visit: Visit,
  clientId: string,
  stored: StoredBytes,
): AsyncGenerator<Buffer> {
  const scope = scopeOf(visit.actor, 'read', 'document')
  return chunksOf(needs, stored, async (uploadId, start) => {
    const [[chunk]] = await needs.access.as(visit, [store.readChunk(scope, clientId, uploadId, start)])
    return chunk
  })
}

async function* continued(
  first: IteratorResult<Buffer, unknown>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (first.done !== true) yield first.value
  yield* rest
}

function damaged(): Problem {
  return new Problem(
    'conflict',
    'The content of the document is damaged, or was encrypted with another key. Ask the operator to run "tollgate verify".',
  )
}
