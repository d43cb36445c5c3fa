import { createHash, type Hash } from 'node:crypto'
import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { newId } from '../../access/new-id.ts'
import { may, scopeOf } from '../../access/policy.ts'
import { codeOf } from '../../platform/database/failure.ts'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import { Problem } from '../../platform/problems.ts'
import { archived } from '../items/outcomes.ts'
import type { Upload } from '../schema.ts'
import { chunkContext, chunksFor } from './contents.ts'
import { headBytes, mediaTypeOf } from './media-type.ts'
import { insertObject } from './storage/store.ts'
import type { Place } from './storage/object-store.ts'
import type { Storage } from './storage/storage.ts'
import * as store from './store.ts'

/** The bytes of a request. */
export type Body = AsyncIterable<Uint8Array>

/**
 * Bytes that are sent to a record, in one request or in several. Once all have arrived, a document can be made of them. Every method applies
 * the policy to the client, writes an audit event whether it allows or refuses, and throws what `RecordAccess.refuse` throws if the actor
 * cannot see the client or the upload. What has arrived of a request that breaks off is kept.
 */
export interface Uploads {
  /**
   * Starts an upload of so many bytes with the first of them. Idempotent per person and `key`: a retry returns the upload that the first call
   * started. Throws Problem `conflict` for an archived client or one with too many bytes of which no document was made, and
   * `request_too_large`.
   */
  start(visit: Visit, clientId: string, upload: { bytes: number; body: Body }, key?: string): Promise<Upload>
  /**
   * Adds bytes from `start` on. Throws Problem `conflict` for an archived client and, with the upload as it is, if the upload does not
   * continue at `start`.
   */
  continue(visit: Visit, clientId: string, id: string, part: { start: number; body: Body }): Promise<Upload>
  read(visit: Visit, clientId: string, id: string): Promise<Upload>
}

interface UploadNeeds {
  readonly access: RecordAccess
  readonly encryption: Pick<Encryption, 'encrypt' | 'decryptBytes'>
  readonly storage: Pick<Storage, 'place' | 'put' | 'read'>
}

/** The fewest bytes of any chunk but the last. Kept small, because other requests wait for the connection that stores one. */
const chunkBytes = 512 * 1024
/** The same for objects, each of which takes two transactions and a request, or the flushing of a file. */
const objectBytes = 2 * 1024 * 1024

export function createUploads(needs: UploadNeeds): Uploads {
  const { access, encryption, storage } = needs

  /**
   * Stores a body in chunks, also what has arrived of one that breaks off. Returns the hash of what it stored, and the byte of the upload
   * at which that ends.
   */
  async function storeBody(
    visit: Visit,
    clientId: string,
    upload: store.UploadJson,
    body: Body,
  ): Promise<{ readonly hash: Hash; readonly end: number }> {
    const hash = createHash('sha256')
    const { place } = storage
    let start = upload.received
    // While a chunk is stored, the next one arrives, and its object is written.
    let storing: Promise<void> = Promise.resolve()
    try {
      for await (const bytes of inChunks(body, upload.bytes - start, place === undefined ? chunkBytes : objectBytes)) {
        hash.update(bytes)
        const data = encryption.encrypt(bytes, chunkContext(upload.id, start))
        const object = place && awaitedLater(storeObject(visit, clientId, upload.id, { data, place }))
        await storing
        const chunk = { clientId, id: upload.id, start, bytes: bytes.length }
        storing = awaitedLater(storeChunk(visit, chunk, data, object))
        start += bytes.length
      }
    } finally {
      await storing
    }
    return { hash, end: start }
  }

  /** Stores an object, and returns the digest after which it is named. It is noted first, so that none is left over after a crash. */
  async function storeObject(
    visit: Visit,
    clientId: string,
    id: string,
    { data, place }: { readonly data: Buffer; readonly place: Place },
  ): Promise<Buffer> {
    const digest = createHash('sha256').update(data).digest()
    const scope = scopeOf(visit.actor, 'create', 'document')
    await storage.put(digest.toString('hex'), data, async () => {
      const [[noted]] = await access.as(visit, [insertObject(scope, { clientId, digest, place })])
      if (!noted) await refuseChunk(visit, clientId, id)
    })
    return digest
  }

  /** The response to the upload makes the chunks durable, so that none of them waits for it. */
  async function storeChunk(
    visit: Visit,
    chunk: { readonly clientId: string; readonly id: string; readonly start: number; readonly bytes: number },
    data: Buffer,
    storedObject: Promise<Buffer> | undefined,
  ): Promise<void> {
    const object = await storedObject
    const scope = scopeOf(visit.actor, 'create', 'document')
    const stored = object ? { object } : { data }
    const [, [done]] = await access.as(visit, [store.commitLater, store.insertChunk(scope, { ...chunk, ...stored })])
    if (!done) await refuseChunk(visit, chunk.clientId, chunk.id)
  }

  /** Throws why a chunk was not stored. */
  async function refuseChunk(visit: Visit, clientId: string, id: string): Promise<never> {
    const done = audited('continued', clientId, id)
    const { upload, status } = await find(visit, done)
    return access.decline(visit, done, status === 'archived' ? archived() : elsewhere(upload))
  }

  /** The upload and the status of its client. */
  async function find(visit: Visit, done: AuditedAction & { readonly clientId: string; readonly nounId: string }) {
    const [[row]] = await access.as(visit, [
      store.readUpload(scopeOf(visit.actor, 'create', 'document'), done.clientId, done.nounId),
    ])
    if (!row?.upload || !may(visit.actor, 'create', 'document', { consultantId: row.consultant_id })) {
      return access.refuse(visit, done)
    }
    return { upload: row.upload, status: row.status }
  }

  /** Stores the body, and completes the upload if that was all. */
  async function receive(visit: Visit, clientId: string, upload: store.UploadJson, body: Body): Promise<Upload> {
    const done = audited('continued', clientId, upload.id)
    const { hash, end } = await storeBody(visit, clientId, upload, body)
    const { upload: stored } = await find(visit, done)
    if (stored.digest === null && stored.received === stored.bytes) {
      // Another request may have continued the upload meanwhile.
      const isWhole = upload.received === 0 && end === stored.bytes
      const digest = isWhole ? hash.digest() : await digestOf(visit, clientId, stored)
      const type = await mediaTypeOf(await headOf(visit, clientId, stored))
      const scope = scopeOf(visit.actor, 'create', 'document')
      await access.as(visit, [store.completeUpload(scope, { clientId, id: upload.id, digest, type })])
    }
    const { upload: now } = await find(visit, done)
    await access.note(visit, done)
    return now
  }

  const storedChunks = (visit: Visit, clientId: string, { id, bytes }: store.UploadJson) =>
    chunksFor(needs, visit, clientId, { upload_id: id, bytes })

  async function digestOf(visit: Visit, clientId: string, upload: store.UploadJson): Promise<Buffer> {
    const hash = createHash('sha256')
    for await (const bytes of storedChunks(visit, clientId, upload)) hash.update(bytes)
    return hash.digest()
  }

  async function headOf(visit: Visit, clientId: string, upload: store.UploadJson): Promise<Buffer> {
    let head = Buffer.alloc(0)
    for await (const bytes of storedChunks(visit, clientId, upload)) {
      head = Buffer.concat([head, bytes])
      if (head.length >= headBytes) break
    }
    return head.subarray(0, headBytes)
  }

  return Object.freeze<Uploads>({
    async start(visit: Visit, clientId: string, { bytes, body }: { bytes: number; body: Body }, key?: string) {
      const scope = scopeOf(visit.actor, 'create', 'document')
      const id = newId(visit, `${clientId}/uploads`, key)
      const done = audited('started', clientId, id)
      const statements = [
        store.insertUpload(scope, { visit, clientId, id, bytes }),
        store.readUpload(scope, clientId, id),
      ] as const
      const [[inserted], [row]] = await access
        .as(visit, statements)
        .catch((error: unknown) =>
          isExcess(error) ? access.decline(visit, done, excess(error)) : Promise.reject(error),
        )
      if (!row || !may(visit.actor, 'create', 'document', { consultantId: row.consultant_id })) {
        return access.refuse(visit, done)
      }
      if (!row.upload) {
        return row.status === 'archived' ? access.decline(visit, done, archived()) : access.refuse(visit, done)
      }
      if (inserted) return receive(visit, clientId, row.upload, body)
      await access.note(visit, audited('read', clientId, id))
      return row.upload
    },

    async continue(visit, clientId, id, { start, body }) {
      const done = audited('continued', clientId, id)
      const { upload, status } = await find(visit, done)
      if (status === 'archived') return access.decline(visit, done, archived())
      if (upload.digest !== null || upload.received !== start) return access.decline(visit, done, elsewhere(upload))
      return receive(visit, clientId, upload, body)
    },

    async read(visit, clientId, id) {
      const done = audited('read', clientId, id)
      const { upload } = await find(visit, done)
      await access.note(visit, done)
      return upload
    },
  })
}

/** A promise whose rejection is handled when it is awaited, which may be late. */
function awaitedLater<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => undefined)
  return promise
}

const audited = (verb: 'started' | 'continued' | 'read', clientId: string, nounId: string) => ({
  action: `upload_${verb}`,
  noun: 'document',
  clientId,
  nounId,
})

/**
 * The bytes in chunks of at least `fewest`, but for the last. If the body breaks off, what has arrived is the last chunk before the error. Throws Problem `request_too_large` once
 * there are more than `most`.
 */
async function* inChunks(body: Body, most: number, fewest: number): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = []
  let [length, rest] = [0, most]
  const take = () => {
    const chunk = Buffer.concat(parts, length)
    parts = []
    length = 0
    return chunk
  }
  try {
    for await (const part of body) {
      rest -= part.length
      if (rest < 0) throw tooMuch()
      parts.push(part)
      length += part.length
      if (length >= fewest) yield take()
    }
  } catch (error) {
    if (length > 0) yield take()
    throw error
  }
  if (length > 0) yield take()
}

function tooMuch(): Problem {
  return new Problem('request_too_large', 'The body is longer than the rest of the upload. Send what is missing.')
}

/** An error of refuse_excess_upload(). */
const isExcess = (error: unknown): boolean => codeOf(error) === 'TG002'

function excess(cause: unknown): Problem {
  const reason =
    'The client has 1 000 uploads or 10 GB of which no document was made, or which it had already. Make documents of new files, or wait: the rest is removed a day after it was sent.'
  return new Problem('conflict', reason, { cause })
}

function elsewhere(upload: Upload): Problem {
  const reason =
    upload.digest === null
      ? `The upload continues at byte ${upload.received}: send the header Upload-Offset: ${upload.received} and the bytes from there on.`
      : 'The upload is complete.'
  return new Problem('conflict', reason, { field: 'Upload-Offset', current: upload })
}
