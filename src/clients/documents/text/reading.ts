import type { Logger } from 'pino'
import type { Database } from '../../../platform/database/database.ts'
import { codeOf } from '../../../platform/database/failure.ts'
import type { Encryption } from '../../../platform/encryption/encryption.ts'
import { repeat } from '../../../platform/flow/repeat.ts'
import { Problem } from '../../../platform/problems.ts'
import { chunksOf, DamagedContent } from '../contents.ts'
import { isStorageAway, type Storage } from '../storage/storage.ts'
import { hasText, readText } from './read-text.ts'
import {
  claimContent,
  keepText,
  postpone,
  readClaimedChunk,
  releaseContent,
  retrySoon,
  type ClaimedContent,
} from './store.ts'

interface ReadingNeeds {
  readonly database: Database
  readonly encryption: Pick<Encryption, 'decryptBytes'>
  readonly storage: Pick<Storage, 'read'>
  readonly log: Logger
  /** Between two looks for documents to read, in ms. Default 2000. */
  readonly pause?: number
}

/** How often a content is tried if its instance dies or the process that reads it fails. */
const mostTries = 3

/**
 * Starts reading the texts of documents, one after the other. Every instance does this; each content is read by one of them. Closing ends a
 * reading in progress, which another instance then begins again.
 */
export function startReading(needs: ReadingNeeds): { close(): Promise<void> } {
  const { database, log, pause = 2000 } = needs
  const closing = new AbortController()
  /** What this instance has claimed. It stays claimed while the database is away, which is no failure of the content. */
  let claimed: ClaimedContent | undefined
  const work = async () => {
    while (!closing.signal.aborted) {
      claimed ??= await claimContent(database)
      if (claimed === undefined) return
      try {
        await readOne(needs, claimed, closing.signal)
      } catch (error) {
        if (closing.signal.aborted) return
        if (isStorageAway(error)) {
          const postponed = claimed
          claimed = undefined
          await postpone(database, postponed)
          throw error
        }
        if (isAway(error)) throw error
        const failed = claimed
        claimed = undefined
        if (failed.tries === 0) await retrySoon(database, failed).catch(() => undefined)
        throw error
      }
      claimed = undefined
    }
  }
  const reading = repeat({ name: 'reading documents', pause, work, log })
  return Object.freeze({
    async close() {
      closing.abort()
      await reading.stop()
      if (claimed) await releaseContent(database, claimed).catch(() => undefined)
    },
  })
}

/** A statement that took too long is no sign that the database is away: storing a long text may take as long each time. */
const isAway = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'unavailable' && codeOf(error.cause) !== '57014'

async function readOne(needs: ReadingNeeds, content: ClaimedContent, signal: AbortSignal): Promise<void> {
  const result = await textOf(needs, content, signal)
  const isUnread = typeof result === 'string'
  await keepText(needs.database, content, { reading: isUnread ? result : 'read', pages: isUnread ? [] : result })
  if (isUnread && result !== 'none')
    needs.log.info({ client: content.client_id, reason: result }, 'a document was not read')
}

async function textOf(needs: ReadingNeeds, content: ClaimedContent, signal: AbortSignal) {
  if (content.bytes === 0 || !hasText(content.type)) return 'none'
  if (content.tries >= mostTries) return 'damaged'
  const bytes = chunksOf(needs, content, (_, start) => readClaimedChunk(needs.database, content, start))
  try {
    return await readText(content.type, bytes, { signal })
  } catch (error) {
    if (error instanceof DamagedContent) return 'damaged'
    throw error
  }
}
