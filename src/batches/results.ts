import type { Database } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { Problem } from '../platform/problems.ts'
import { contexts, type Batch, type BatchFile, type Download } from './batch.ts'
import * as store from './batches-store.ts'
import * as files from './files-store.ts'
import { pagesOf, readLine, unnamed } from './lines.ts'
import { unrunResult } from './result-lines.ts'

/** The lines with a reply, the others, or all. */
export type ResultKind = 'output' | 'errors' | 'all'

type FilePart = Exclude<ResultKind, 'all'>

/** The sizes of files that an instance remembers. */
const mostSizes = 1000

/** Reads results for download, a piece at a time. */
export function createResultReader({
  database,
  encryption,
}: {
  readonly database: Database
  readonly encryption: Encryption
}) {
  const sizes = new Map<string, number>()

  /** The batch with the results that are this file. Throws Problem `not_found`. */
  async function ofFile(accountId: string, id: string) {
    const batch = await store.readBatchOfOutput(database, accountId, id)
    if (batch === undefined) throw new Problem('not_found', 'There is no file with this id.')
    const part: FilePart = batch.outputId === id ? 'output' : 'errors'
    return [batch, part] as const
  }

  /** Undefined for a line of a client that was erased. */
  function textOf(batch: Batch, { number, content, result }: store.EndedLine): string | undefined {
    const { accountId, id, fileId } = batch
    if (result === null && content === null) return undefined
    if (result !== null) {
      const text = encryption.decrypt(result, contexts.result(accountId, id, number))
      if (text === undefined) throw undecryptable()
      return text
    }
    const text = content && encryption.decrypt(content, contexts.line(accountId, fileId ?? id, number))
    if (!text) throw undecryptable()
    return unrunResult(batch, number, customIdIn(batch, number, text))
  }

  /** Throws if lines are removed meanwhile: what was sent must not look complete. */
  async function* resultLines(batch: Batch, part: ResultKind): AsyncGenerator<string, void, void> {
    const { lines: all, succeeded } = batch
    let left = { all, output: succeeded, errors: all - succeeded }[part]
    for await (const lines of pagesOf((after) => store.readResults(database, batch.id, { after, part }))) {
      left -= lines.length
      const texts = lines.map((line) => textOf(batch, line)).filter((text) => text !== undefined)
      if (texts.length > 0) yield `${texts.join('\n')}\n`
    }
    if (left > 0) throw removed()
  }

  /**
   * The size in bytes of the errors of a batch with lines that were not run, which are not stored as they are sent, so all of them must be read. Remembered until a client is erased,
   * which makes it smaller, or until newer sizes take its place.
   */
  async function sizeOf(batch: store.BatchOfOutput): Promise<number> {
    const { id, outputBytes, unrunBytes } = batch
    const key = `${id} ${outputBytes} ${unrunBytes}`
    const known = sizes.get(key)
    if (known !== undefined) return known
    const size = await bytesOf(resultLines(batch, 'errors'))
    const [oldest] = sizes.keys()
    if (sizes.size >= mostSizes && oldest !== undefined) sizes.delete(oldest)
    sizes.set(key, size)
    return size
  }

  return {
    ofFile,
    async file(accountId: string, id: string): Promise<BatchFile> {
      const [batch, part] = await ofFile(accountId, id)
      const { id: batchId, endedAt, resultsUntil } = batch
      const hasUnrun = batch.succeeded + batch.failed < batch.lines
      return {
        id,
        name: `batch_${batchId}_${part}.jsonl`,
        purpose: 'batch_output',
        bytes: part === 'errors' && hasUnrun ? await sizeOf(batch) : Number(batch.outputBytes),
        createdAt: endedAt ?? batch.createdAt,
        expiresAt: resultsUntil ?? batch.expiresAt,
      }
    },
    download: (batch: Batch, part: ResultKind): Download => ({
      lines: resultLines(batch, part),
      onEnd: () => store.noteDownload(database, batch.id, part),
    }),
    async *fileLines(accountId: string, { id, lines: all }: files.FileRow): AsyncGenerator<string, void, void> {
      let left = all
      for await (const lines of pagesOf((after) => files.readFileLines(database, id, after))) {
        left -= lines.length
        for (const { number, content } of lines) {
          const text = encryption.decrypt(content, contexts.line(accountId, id, number))
          if (text === undefined) throw undecryptable()
          yield `${text}\n`
        }
      }
      if (left > 0) throw removed()
    },
  }
}

function customIdIn({ dialect }: Batch, number: number, text: string): string {
  try {
    return readLine(dialect, Buffer.from(text)).customId
  } catch (error) {
    if (error instanceof Problem) return unnamed(number)
    throw error
  }
}

/** The bytes of a download that is not stored as it is sent. */
async function bytesOf(texts: AsyncIterable<string>): Promise<number> {
  let bytes = 0
  for await (const text of texts) bytes += Buffer.byteLength(text)
  return bytes
}

const removed = (): Problem => new Problem('not_found', 'The lines were removed while they were downloaded.')

const undecryptable = (): Problem =>
  new Problem('internal', 'This text was encrypted with another key and can no longer be read.')
