import type { Logger } from 'pino'
import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import type { Problem } from '../platform/problems.ts'
import { repeat } from '../platform/flow/repeat.ts'
import { watchDraft } from './drafting-store.ts'
import { outOfReach } from './endings.ts'

/** ms between two looks. */
const pause = 500

interface WatchNeeds {
  readonly visit: Visit
  readonly access: RecordAccess
  readonly log: Logger
  /** The id of the draft. */
  readonly id: string
  /** Aborted when the person asks to stop, or may no longer see the client. */
  readonly stop: AbortController
}

/** Watches a draft while its model writes: whether it is to be stopped, and whether its author may still see the client. */
export function watch({ visit, access, log, id, stop }: WatchNeeds) {
  let loss: Problem | undefined

  async function look(): Promise<void> {
    const [[row]] = await access.as(visit, [watchDraft(id)])
    if (!row) loss ??= outOfReach()
    if (loss || row?.stop) stop.abort()
  }
  const looking = repeat({ name: 'watching a draft', pause, work: look, log })

  /** Looks for the last time. Returns why nothing may be kept, if so. */
  async function lost(): Promise<Problem | undefined> {
    await looking.stop()
    if (loss) return loss
    // Without the database nothing is kept either.
    await look().catch((error: unknown) => log.warn({ request_id: id, err: error }, 'a draft could not be watched'))
    return loss
  }

  return Object.freeze({
    lost,
    /** Throws the Problem that forbids to keep the text. */
    async end(): Promise<void> {
      const problem = await lost()
      if (problem) throw problem
    },
  })
}
