import { randomUUIDv7 } from 'node:crypto'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Caller } from '../accounts/keys/keys.ts'
import type { QueuedUrl } from '../generation/calls/queued-calls.ts'
import type { Database } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { Problem } from '../platform/problems.ts'
import { contexts, type Batch, type BatchDialect, type BatchFile, type Download } from './batch.ts'
import * as store from './batches-store.ts'
import { createLineChecks, lineFaultText, type LineCheckNeeds } from './check.ts'
import * as files from './files-store.ts'
import { lineForms, pagesOf, type NumberedLine } from './lines.ts'
import { createResultReader } from './results.ts'
import {
  createLineWriter,
  receiveFile,
  refuseExcess,
  tooLarge,
  type ArrivingFile,
  type UploadLimits,
} from './uploads.ts'

/** What a caller chooses for a new batch. */
export interface NewBatch {
  readonly dialect: BatchDialect
  readonly endpoint: QueuedUrl
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** How long its results are kept. At most as long as configured, which is the default. */
  readonly keptSeconds?: number | undefined
}

/** The batches of a caller's account in one dialect. */
export interface BatchesOf {
  readonly accountId: string
  readonly dialect: BatchDialect
}

/**
 * Batches and their files. Each belongs to an account: for the keys of others it does not exist. Every method throws Problem `not_found` for an
 * unknown id.
 */
export interface CallerBatches {
  /** Stores a file. Throws the Problem that names what is wrong with the file, or `conflict` if the account keeps too much. */
  upload(upload: ArrivingFile): Promise<BatchFile>
  file(accountId: string, id: string): Promise<BatchFile>
  listFiles(
    accountId: string,
    page: { readonly after: string | undefined; readonly limit: number },
  ): Promise<BatchFile[]>
  /** The lines of a file, or of the results of a batch, for download. Results are removed a day after all of them were downloaded. */
  content(accountId: string, id: string): Promise<Download>
  /** Removes a file, or the results of a batch that have this id as a file. */
  deleteFile(accountId: string, id: string): Promise<void>
  /** Queues the lines of a file. If any of them is at fault, nothing is queued, and the batch has failed: its errors name the lines. */
  createFromFile(caller: Caller, fileId: string, batch: NewBatch): Promise<Batch>
  /** Queues the lines as they arrive. Throws the Problem of the first that is at fault, and then nothing is queued. */
  createFromLines(caller: Caller, lines: AsyncIterable<NumberedLine>, batch: NewBatch): Promise<Batch>
  show(of: BatchesOf, id: string): Promise<Batch>
  list(of: BatchesOf, page: Parameters<typeof store.readBatches>[2]): Promise<Batch[]>
  /** Begins no more lines of it. Throws Problem `conflict` if it has ended. */
  cancel(of: BatchesOf, id: string): Promise<Batch>
  /** Its results, for download. Throws Problem `conflict` if it has not ended. */
  results(of: BatchesOf, id: string): Promise<Download>
  /** Removes a batch with its results. Throws Problem `conflict` if it has not ended. */
  remove(of: BatchesOf, id: string): Promise<void>
  metadataOf(batch: Batch): Readonly<Record<string, string>> | null
}

export interface CallerBatchesNeeds extends LineCheckNeeds {
  readonly database: Database
  readonly encryption: Encryption
  readonly limits: UploadLimits
  /** Called when there are lines to run, or a batch to end. */
  readonly wake: () => void
}

const pairs = Compile(Type.Record(Type.String(), Type.String()))

/** After this time, no more lines of a batch are begun. */
const windowSeconds = 86_400

/** The most batches of an account that have not ended. */
const mostOpen = 100

export function createBatches(needs: CallerBatchesNeeds): CallerBatches {
  const { database, encryption, limits, wake } = needs
  const results = createResultReader({ database, encryption })

  const presentFile = (accountId: string, { id, name, bytes, createdAt, expiresAt }: files.FileRow): BatchFile => ({
    id,
    name: encryption.decrypt(name, contexts.fileName(accountId, id)) ?? 'file',
    purpose: 'batch',
    bytes: Number(bytes),
    createdAt,
    expiresAt,
  })

  async function requireFile(accountId: string, id: string): Promise<files.FileRow> {
    const file = await files.readFile(database, accountId, id)
    if (file === undefined) throw noFile()
    return file
  }
  async function requireBatch(of: BatchesOf, id: string): Promise<Batch> {
    const batch = await store.readBatch(database, of, id)
    if (batch === undefined) throw new Problem('not_found', 'There is no batch with this id.')
    return batch
  }
  async function requireEnded(of: BatchesOf, id: string): Promise<Batch> {
    const batch = await requireBatch(of, id)
    if (batch.endedAt === null) throw new Problem('conflict', 'The batch has not ended. Wait for it, or cancel it.')
    return batch
  }

  /** Throws Problem `conflict` if the account keeps too much or has too many batches. Serialised by account, so concurrent calls cannot exceed either limit. */
  async function begin(caller: Caller, batch: NewBatch, file: files.FileRow | null): Promise<string> {
    const { accountId, keyId } = caller
    const id = randomUUIDv7()
    const { dialect, endpoint, metadata } = batch
    const sealed = metadata && encryption.encrypt(JSON.stringify(metadata), contexts.metadata(accountId, id))
    await database.transaction(async (tx) => {
      await store.lockNewBatches(tx, accountId)
      await refuseExcess(tx, accountId, limits.bytes)
      if ((await store.countOpenBatches(tx, accountId)) >= mostOpen) {
        throw new Problem('conflict', `The account has ${mostOpen} batches that have not ended. Wait for one of them.`)
      }
      await store.insertBatch(tx, {
        id,
        accountId,
        keyId,
        dialect,
        endpoint,
        fileId: file?.id ?? null,
        metadata: sealed ?? null,
        windowSeconds,
        bytes: file?.bytes ?? 0n,
        kept: limits.kept,
        keptSeconds: batch.keptSeconds ?? null,
      })
    })
    return id
  }

  async function publish(id: string, bytes: number): Promise<Batch> {
    const published = await store.publishBatch(database, id, bytes)
    if (published === undefined) throw new Problem('unavailable', 'The batch took too long. Send it again.')
    wake()
    return published
  }

  /** Removes the batch if `work` fails before it is published. */
  async function orDrop<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      await store.dropBatch(database, id).catch(() => undefined)
      throw error
    }
  }

  return Object.freeze<CallerBatches>({
    upload: async (upload) => presentFile(upload.accountId, await receiveFile(needs, upload)),
    async file(accountId, id) {
      const file = await files.readFile(database, accountId, id)
      return file ? presentFile(accountId, file) : results.file(accountId, id)
    },
    async listFiles(accountId, page) {
      return (await files.readUploads(database, accountId, page)).map((row) => presentFile(accountId, row))
    },
    async content(accountId, id) {
      const file = await files.readFile(database, accountId, id)
      if (file === undefined) return results.download(...(await results.ofFile(accountId, id)))
      return { lines: results.fileLines(accountId, file), onEnd: async () => undefined }
    },
    async deleteFile(accountId, id) {
      if (await files.deleteFile(database, accountId, id)) return
      const [batch, part] = await results.ofFile(accountId, id)
      await store.removeResults(database, batch.id, part)
    },
    async createFromFile(caller, fileId, batch) {
      const { accountId } = caller
      const file = await requireFile(accountId, fileId)
      const checks = createLineChecks(needs, { ...batch, caller })
      const id = await begin(caller, batch, file)
      return orDrop(id, async () => {
        let lines = 0
        for await (const stored of pagesOf((after) => files.readFileLines(database, fileId, after))) {
          const checked: files.StoredLine[] = []
          for (const { number, content } of stored) {
            const text = encryption.decrypt(content, contexts.line(accountId, fileId, number))
            if (text === undefined) throw new Problem('internal', 'The file can no longer be decrypted.')
            const clientId = await checks.add({ number, bytes: Buffer.from(text) })
            checked.push({ number, content, clientId })
            if (checks.isDone) break
          }
          if (checks.isDone) break
          if (checks.faults.length === 0) await files.insertLines(database, 'batch', id, checked)
          lines += stored.length
        }
        if (checks.faults.length > 0) {
          const refused = await store.refuseBatch(database, id, checks.faults)
          if (refused) return refused
        }
        if (lines !== file.lines) throw noFile()
        return publish(id, Number(file.bytes))
      })
    },
    async createFromLines(caller, lines, batch) {
      const { accountId } = caller
      const checks = createLineChecks(needs, { ...batch, caller })
      const id = await begin(caller, batch, null)
      return orDrop(id, async () => {
        const writer = createLineWriter(needs, { accountId, of: 'batch', id })
        let [count, size] = [0, 0]
        for await (const line of lines) {
          const clientId = await checks.add(line)
          const [fault] = checks.faults
          if (fault)
            throw new Problem(
              fault.code,
              lineFaultText(batch.dialect, fault),
              fault.field === null
                ? {}
                : { field: `${lineForms[batch.dialect].place(fault.line ?? 1)}.${fault.field}` },
            )
          const { number, bytes } = line
          await writer.add({
            number,
            content: encryption.encrypt(bytes.toString(), contexts.line(accountId, id, number)),
            clientId,
          })
          count += 1
          size += bytes.length
          if (size > limits.bytes) throw tooLarge(limits.bytes, 'batch')
        }
        if (count === 0) throw new Problem('invalid_field', 'The batch has no requests.', { field: 'requests' })
        await writer.flush()
        return publish(id, size)
      })
    },
    show: requireBatch,
    list: (of, page) => store.readBatches(database, of, page),
    async cancel(of, id) {
      const cancelled = await store.cancelBatch(database, of, id)
      if (cancelled === undefined) throw new Problem('not_found', 'There is no batch with this id.')
      if (cancelled.status !== 'cancelling' && cancelled.status !== 'cancelled') {
        throw new Problem('conflict', `The batch has ended: it is ${cancelled.status}.`)
      }
      wake()
      return cancelled
    },
    async results(of, id) {
      const batch = await requireEnded(of, id)
      if (batch.resultsUntil === null) throw new Problem('not_found', 'The results of this batch are no longer kept.')
      return results.download(batch, 'all')
    },
    async remove(of, id) {
      await requireEnded(of, id)
      await store.deleteBatch(database, id)
    },
    metadataOf({ accountId, id, metadata }) {
      const text = metadata && encryption.decrypt(metadata, contexts.metadata(accountId, id))
      return text ? pairs.Parse(JSON.parse(text)) : null
    },
  })
}

const noFile = (): Problem => new Problem('not_found', 'There is no file with this id.')
