import type { Logger } from 'pino'
import type { Database } from '../../../platform/database/database.ts'
import type { Encryption } from '../../../platform/encryption/encryption.ts'
import { repeat } from '../../../platform/flow/repeat.ts'
import { chunkContext } from '../contents.ts'
import { hasText, readText } from './read-text.ts'
import { claimContent, keepText, readClaimedChunk, type ClaimedContent } from './store.ts'

interface ReadingNeeds {
  readonly database: Database
  readonly encryption: Pick<Encryption, 'decryptBytes'>
  readonly log: Logger
}

/** Between two looks for documents to read, in ms. */
const pause = 2000

/** How often a content is tried whose reading never came to an end, because its instance stopped. */
const mostTries = 3

/** Starts reading the texts of documents, one after the other. Every instance does this; each content is read by one of them. */
export function startReading(needs: ReadingNeeds): { close(): Promise<void> } {
  const { database, log } = needs
  const state = { isClosing: false }
  const reading = repeat({
    name: 'reading documents',
    pause,
    work: async () => {
      for (let next = await claimContent(database); next !== undefined; next = await claimContent(database)) {
        await readOne(needs, next)
        if (state.isClosing) return
      }
    },
    log,
  })
  return Object.freeze({
    async close() {
      state.isClosing = true
      await reading.stop()
    },
  })
}

async function readOne(needs: ReadingNeeds, content: ClaimedContent): Promise<void> {
  const { type, bytes, tries } = content
  const read = async () => {
    if (bytes === 0 || !hasText(type)) return 'none'
    return tries < mostTries ? readText(type, bytesOf(needs, content)) : 'too_much'
  }
  const result = await read()
  const isUnread = typeof result === 'string'
  await keepText(needs.database, content, { reading: isUnread ? result : 'read', pages: isUnread ? [] : result })
  if (isUnread && result !== 'none')
    needs.log.info({ client: content.client_id, reason: result }, 'a document was not read')
}

/** Ends early if the content is damaged, which `verify` reports. */
async function* bytesOf({ database, encryption }: ReadingNeeds, content: ClaimedContent): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.bytes;) {
    const data = await readClaimedChunk(database, content, start)
    const plain = data && encryption.decryptBytes(data, chunkContext(content.upload_id, start))
    if (plain === undefined || plain.length === 0) return
    yield plain
    start += plain.length
  }
}
