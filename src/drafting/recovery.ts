import type { Logger } from 'pino'
import { byService, personActor } from '../access/actor.ts'
import type { Database } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import { createEach } from '../platform/flow/each.ts'
import { repeat } from '../platform/flow/repeat.ts'
import { readOpenDrafts, type OpenDraft } from './drafting-store.ts'
import type { Endings } from './endings.ts'

/** ms that the instance of a charged draft has to keep it itself. */
const grace = { ms: 3000 }

interface RecoveryNeeds {
  readonly database: Database
  readonly endings: Endings
  readonly log: Logger
  /** ms between two looks. Default 5000. */
  readonly pause?: number | undefined
}

/**
 * Ends the drafts whose instances have stopped. A charged draft becomes a letter if its author may still change the client;
 * a draft without a hold and without a charge has failed. Every instance does this.
 */
export function startRecovery({ database, endings, log, pause = 5000 }: RecoveryNeeds) {
  async function recover({ id, client_id: clientId, person_id, role, charged }: OpenDraft): Promise<void> {
    const draft = { id, clientId }
    if (!charged) return endings.fail(byService, draft, 'interrupted')
    try {
      await endings.keep({ actor: personActor({ id: person_id, role }), requestId: id }, draft)
      log.info({ request_id: id }, 'a draft was completed after its instance had stopped')
    } catch (error) {
      // It has failed with this reason, which its readers see.
      if (!(error instanceof Problem) || error.code === 'unavailable') throw error
    }
  }

  const each = createEach({
    label: (draft: OpenDraft) => ({ request_id: draft.id }),
    failure: 'an interrupted draft could not be completed yet',
    log,
  })
  const look = async (): Promise<void> => each(await readOpenDrafts(database, grace), recover)
  const looking = repeat({ name: 'completing interrupted drafts', pause, work: look, log })
  return Object.freeze({ look, stop: () => looking.stop() })
}
