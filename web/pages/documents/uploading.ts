import { mostBytes } from '../../../src/clients/documents/limits.ts'
import type { Document, Upload } from '../../../src/clients/schema.ts'
import { ApiError, change, read, reasonOf, sendBytes } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { markUnsaved } from '../../unsaved.ts'
import { sizeText } from '../../size.ts'

/** A file on its way to a record. */
export interface Uploading {
  readonly key: string
  readonly clientId: string
  /** The document that gets it as a new version. */
  readonly documentId: string | undefined
  readonly name: string
  readonly bytes: number
  readonly sent: number
  readonly state: 'waiting' | 'sending' | 'failed' | 'done'
  /** Why it failed. */
  readonly reason?: string
}

/** A document that gets the file as a new version. */
export interface Replaced {
  readonly id: string
  readonly version: number
}

/** What is needed to send a file, again if it failed. */
interface Order {
  readonly file: File
  readonly replaces: Replaced | undefined
  /** The upload, once it has begun. */
  upload?: Upload | undefined
}

/** How many files are sent at the same time. */
const mostAtOnce = 2
/** The bytes of a request: as many as take a few seconds, so that progress shows and little is lost with a connection. */
const parts = { first: 512 * 1024, most: 8 * 1024 * 1024, milliseconds: 3000 }
/** The waits before a lost connection is tried again, in ms. */
const waits = [500, 2000, 5000, 15_000]

let uploads: readonly Uploading[] = []
const orders = new Map<string, Order>()
const listeners = new Set<() => void>()

/** The files of all records that are on their way, or were sent or failed since they were last looked at. */
export const uploadings = (): readonly Uploading[] => uploads

export function watchUploads(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function set(changed: readonly Uploading[]): void {
  uploads = changed
  // They go on while the person works elsewhere in the portal; closing it would end them.
  const running = uploads.some(({ state }) => state === 'waiting' || state === 'sending')
  markUnsaved('uploads', running ? { within: '', save: undefined } : undefined)
  for (const listener of listeners) listener()
}

const update = (key: string, change_: Partial<Uploading>) =>
  set(uploads.map((each) => (each.key === key ? { ...each, ...change_ } : each)))

/** Sends files to a record, a few at a time. Each becomes a document, or a new version of the one that it replaces. */
export function uploadFiles(clientId: string, files: readonly File[], replaces?: Replaced): void {
  const added = files.map((file): Uploading => {
    const key = newKey()
    orders.set(key, { file, replaces })
    const fits = file.size <= mostBytes
    const reason = `A document has at most ${sizeText(mostBytes)}.`
    return {
      key,
      clientId,
      documentId: replaces?.id,
      name: file.name,
      bytes: file.size,
      sent: 0,
      ...(fits ? { state: 'waiting' } : { state: 'failed', reason }),
    }
  })
  set([...uploads, ...added])
  next()
}

/** Sends a file that failed once more, from where it stopped. */
export function retryUpload(key: string): void {
  update(key, { state: 'waiting' })
  next()
}

/** Takes a file off the list that was sent or failed. */
export function dismissUpload(key: string): void {
  orders.delete(key)
  set(uploads.filter((each) => each.key !== key))
}

function next(): void {
  const sending = uploads.filter(({ state }) => state === 'sending').length
  for (const { key, clientId } of uploads.filter(({ state }) => state === 'waiting').slice(0, mostAtOnce - sending)) {
    update(key, { state: 'sending' })
    void send(key, clientId)
  }
}

async function send(key: string, clientId: string): Promise<void> {
  const order = orders.get(key)
  if (!order) return
  try {
    const { digest } = await sendFile(`/clients/${clientId}`, key, order)
    await makeDocument(`/clients/${clientId}/documents`, key, { name: order.file.name, digest }, order.replaces)
    update(key, { state: 'done', sent: order.file.size })
  } catch (error) {
    const isUnreadable = error instanceof DOMException && error.name === 'NotReadableError'
    const reason = isUnreadable ? 'The file cannot be read. Choose it again.' : reasonOf(error)
    update(key, { state: 'failed', reason })
  }
  next()
}

/** Sends what the server does not have yet, part by part. A lost connection is tried again a few times. */
async function sendFile(client: string, key: string, order: Order): Promise<Upload> {
  let [size, failures] = [parts.first, 0]
  while (order.upload === undefined || order.upload.digest === null) {
    const begun = performance.now()
    try {
      order.upload = await sendPart(client, key, order, size)
      failures = 0
      const ratio = parts.milliseconds / Math.max(1, performance.now() - begun)
      size = Math.round(Math.min(parts.most, Math.max(parts.first, size * Math.min(2, ratio))))
    } catch (error) {
      order.upload = await resumed(client, order, error)
      const wait = waits[failures++]
      if (wait === undefined) throw error
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
    update(key, { sent: order.upload?.received ?? 0 })
  }
  return order.upload
}

function sendPart(client: string, key: string, { file, upload }: Order, size: number): Promise<Upload> {
  if (!upload) {
    const headers = { 'upload-length': String(file.size), 'idempotency-key': key }
    return sendBytes<Upload>(`${client}/uploads`, { method: 'POST', bytes: file.slice(0, size), headers })
  }
  const bytes = file.slice(upload.received, upload.received + size)
  const headers = { 'upload-offset': String(upload.received) }
  return sendBytes<Upload>(`${client}/uploads/${upload.id}`, { method: 'PATCH', bytes, headers })
}

/** The upload after an error, as the server has it. Throws the error if it is none of the connection or the server. */
async function resumed(client: string, { upload }: Order, error: unknown): Promise<Upload | undefined> {
  if (!(error instanceof ApiError) || (error.status > 0 && error.status < 500 && ![408, 409].includes(error.status))) {
    throw error
  }
  if (!upload) return undefined
  return read<Upload>(`${client}/uploads/${upload.id}`).catch(() => upload)
}

interface NewContent {
  readonly name: string
  readonly digest: string | null
}

function makeDocument(list: string, key: string, body: NewContent, replaces: Replaced | undefined): Promise<Document> {
  if (!replaces) return change<Document>(list, { method: 'POST', body, key })
  const { id, version } = replaces
  return change<Document>(`${list}/${id}`, { method: 'PATCH', body: { digest: body.digest }, version })
}
