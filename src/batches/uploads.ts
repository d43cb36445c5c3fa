import { randomUUIDv7 } from 'node:crypto'
import type { HeldBytes } from '../platform/http/input/long-bodies.ts'
import { boundaryOf, createFormSplitter, type FormPiece } from '../platform/http/input/multipart.ts'
import { Problem } from '../platform/problems.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { contexts } from './batch.ts'
import * as store from './files-store.ts'
import { clientNamedIn, createLineSplitter, type NumberedLine } from './lines.ts'

/** How much may be uploaded, and how long it is kept. */
export interface UploadLimits {
  /** Of one file. */
  readonly bytes: number
  /** Of a line. */
  readonly lineBytes: number
  /** An interval of PostgreSQL. */
  readonly kept: string
}

/** An account may store this many times the bytes of the largest file. */
const mostKept = 10n

/** Throws Problem `conflict` if the account keeps too much. What is arriving counts as far as it has arrived. */
export async function refuseExcess(database: Queryable, accountId: string, most: number): Promise<void> {
  if ((await store.readStoredBytes(database, accountId)) < mostKept * BigInt(most)) return
  const reason = `The files and batches of this account have more than ${mostKept * BigInt(most)} bytes. Delete files, or download results and delete them.`
  throw new Problem('conflict', reason)
}

export const tooLarge = (most: number, of: 'file' | 'batch'): Problem =>
  new Problem('request_too_large', `The ${of} is larger than ${most} bytes. Split it into several batches.`, {
    field: of === 'file' ? 'file' : 'requests',
  })

/** Bytes of lines that one statement writes. */
const mostWritten = 1024 * 1024
const mostLinesWritten = 1000

/** Collects the lines of a file or a batch that is arriving, and stores them when there are many. */
export function createLineWriter({ database, limits }: StoringNeeds, { accountId, of, id }: Arriving) {
  async function write(lines: readonly store.StoredLine[]): Promise<void> {
    await store.insertLines(database, of, id, lines)
    await store.addBytes(
      database,
      of,
      id,
      lines.reduce((sum, { content }) => sum + content.length, 0),
    )
    await refuseExcess(database, accountId, limits.bytes)
  }
  let pending: store.StoredLine[] = []
  let bytes = 0
  async function flush(): Promise<void> {
    if (pending.length === 0) return
    const lines = pending
    pending = []
    bytes = 0
    await write(lines)
  }
  return {
    async add(line: store.StoredLine): Promise<void> {
      pending.push(line)
      bytes += line.content.length
      if (bytes >= mostWritten || pending.length >= mostLinesWritten) await flush()
    },
    flush,
    /** The bytes of the lines that are not stored yet. */
    pending: () => bytes,
  }
}

interface StoringNeeds {
  readonly database: Database
  readonly limits: Pick<UploadLimits, 'bytes'>
}

interface Arriving {
  readonly accountId: string
  readonly of: 'batch_file' | 'batch'
  readonly id: string
}

export interface ArrivingFile {
  readonly accountId: string
  readonly contentType: string | undefined
  readonly body: AsyncIterable<Buffer>
  readonly held: HeldBytes
}

/** The fields of a form that are no files. */
const plainFields: ReadonlySet<string> = new Set(['purpose', 'expires_after[anchor]', 'expires_after[seconds]'])
const longestValue = 100

interface ReceivingNeeds {
  readonly database: Database
  readonly encryption: Encryption
  readonly limits: UploadLimits
}

/**
 * Stores the file of a form as it arrives, line by line. It is not visible before it is complete, and nothing stays of one that never is: if this
 * process dies, it is removed within two hours. Throws Problem.
 */
export async function receiveFile(needs: ReceivingNeeds, upload: ArrivingFile): Promise<store.FileRow> {
  const { database, limits } = needs
  const form = createFormSplitter(boundaryOf(upload.contentType))
  await refuseExcess(database, upload.accountId, limits.bytes)
  const id = randomUUIDv7()
  try {
    return await receive(needs, upload, { id, form })
  } catch (error) {
    await store.dropFile(database, id).catch(() => undefined)
    throw error
  }
}

async function receive(
  { database, encryption, limits }: ReceivingNeeds,
  { accountId, body, held }: ArrivingFile,
  { id, form }: { readonly id: string; readonly form: ReturnType<typeof createFormSplitter> },
): Promise<store.FileRow> {
  const lines = createLineSplitter(limits.lineBytes)
  const values = new Map<string, string>()
  let name: string | undefined
  let bytes = 0
  let count = 0
  const writer = createLineWriter({ database, limits }, { accountId, of: 'batch_file', id })

  async function keep(found: readonly NumberedLine[]): Promise<void> {
    for (const { number, bytes: line } of found) {
      count += 1
      const text = line.toString()
      const content = encryption.encrypt(text, contexts.line(accountId, id, number))
      await writer.add({ number, content, clientId: clientNamedIn(text) })
    }
  }
  async function take({ name: field, fileName, isFirst, bytes: piece }: FormPiece): Promise<void> {
    if (isFirst && (field === 'file' ? name !== undefined : values.has(field))) throw twice(field)
    if (field !== 'file') {
      noteValue(values, field, piece)
      return
    }
    if (name === undefined) {
      name = (fileName ?? '').toWellFormed().slice(0, 255) || 'file'
      const sealed = encryption.encrypt(name, contexts.fileName(accountId, id))
      await store.insertFile(database, { id, accountId, name: sealed, kept: limits.kept })
    }
    bytes += piece.length
    if (bytes > limits.bytes) throw tooLarge(limits.bytes, 'file')
    await keep(lines.push(piece))
  }

  for await (const chunk of body) {
    for (const piece of form.push(chunk)) await take(piece)
    held(lines.pending() + writer.pending())
  }
  form.end()
  if (name === undefined) throw new Problem('missing_field', 'The field file is missing.', { field: 'file' })
  await keep(lines.end())
  if (count === 0) throw new Problem('invalid_field', 'The file has no lines.', { field: 'file' })
  checkPurpose(values.get('purpose'))
  await writer.flush()
  const file = await store.publishFile(database, id, { lines: count, bytes, keptSeconds: keptSeconds(values) })
  if (file === undefined) throw new Problem('unavailable', 'The file took too long. Send it again.')
  return file
}

const twice = (field: string): Problem =>
  new Problem('invalid_field', `The field ${field} may be there only once.`, { field })

function noteValue(values: Map<string, string>, field: string, piece: Buffer): void {
  if (!plainFields.has(field)) {
    const shown = /^[\w[\]]{1,60}$/.test(field) ? field : '?'
    throw new Problem('unknown_field', `The field ${shown} is not known here.`, { field: shown })
  }
  const value = (values.get(field) ?? '') + piece.toString()
  if (value.length > longestValue) throw new Problem('invalid_field', `The field ${field} is too long.`, { field })
  values.set(field, value)
}

function checkPurpose(purpose: string | undefined): void {
  if (purpose === 'batch') return
  const code = purpose === undefined ? 'missing_field' : 'invalid_field'
  throw new Problem(code, 'The field purpose must be batch.', { field: 'purpose' })
}

const [hour, month] = [3600, 2_592_000]

/** What the caller asks for. */
function keptSeconds(values: ReadonlyMap<string, string>): number | null {
  const [anchor, seconds] = [values.get('expires_after[anchor]'), values.get('expires_after[seconds]')]
  if (anchor === undefined && seconds === undefined) return null
  if (anchor !== 'created_at') {
    const field = 'expires_after[anchor]'
    throw new Problem('invalid_field', `The field ${field} must be created_at.`, { field })
  }
  const asked = /^\d{1,9}$/.test(seconds ?? '') ? Number(seconds) : 0
  if (asked < hour || asked > month) {
    const field = 'expires_after[seconds]'
    throw new Problem('invalid_field', `The field ${field} must be ${hour} to ${month}.`, { field })
  }
  return asked
}
