import type { Logger } from 'pino'
import type { RecordAccess } from '../access/access.ts'
import { byService, type Visit } from '../access/actor.ts'
import { codeOf } from '../platform/database/failure.ts'
import { Problem, type ProblemCode } from '../platform/problems.ts'
import * as store from './drafting-store.ts'

/** A draft and its client. */
interface Which {
  readonly id: string
  readonly clientId: string
}

/** Why a draft has no letter. `interrupted`: it was not charged, as far as is known. */
export type DraftFailure = ProblemCode | 'interrupted' | 'no_text'

/** How drafts end. A draft ends once, whatever several instances try. */
export interface Endings {
  /**
   * Puts the text of a charged draft on the record, as its author. If that is not possible, the draft fails and keeps its
   * charge: throws Problem with the reason. Throws Problem `unavailable`, and the draft goes on, if the database is away.
   */
  keep(visit: Visit, draft: Which): Promise<void>
  /** Ends a draft without text. If the database is away, recovery ends it later. */
  fail(visit: Visit, draft: Which, failure: DraftFailure): Promise<void>
  /** Ends a draft that was stopped before its first text. */
  stopEmpty(visit: Visit, draft: Which): Promise<void>
}

export function createEndings({ access, log }: { access: RecordAccess; log: Logger }): Endings {
  async function end(visit: Visit, ending: store.Ending): Promise<void> {
    await access.as(visit, [store.endDraft(visit, ending)]).catch((error: unknown) => {
      log.warn({ request_id: ending.id, err: error }, 'a draft could not be ended; it is ended later')
    })
  }

  const fail = (visit: Visit, { id, clientId }: Which, failure: DraftFailure) =>
    end(visit, { id, clientId, status: 'failed', failure })

  /** The outcome for the text. The record may be full (TG002), or the client may just have left the author's scope (TG003). */
  async function outcomeOf(visit: Visit, id: string): Promise<store.KeptDraft | 'full'> {
    try {
      const [[row]] = await access.as(visit, [store.keepDraft(visit, id)])
      return row?.outcome ?? 'out_of_reach'
    } catch (error) {
      if (codeOf(error) === 'TG003') return 'out_of_reach'
      if (codeOf(error) === 'TG002') return 'full'
      throw error
    }
  }

  return Object.freeze<Endings>({
    async keep(visit, draft) {
      const outcome = await outcomeOf(visit, draft.id)
      if (outcome === 'kept' || outcome === 'ended') return
      const [failure, problem, by = visit] = refusals[outcome]
      await fail(by, draft, failure)
      throw problem()
    },
    fail,
    stopEmpty: (visit, { id, clientId }) => end(visit, { id, clientId, status: 'stopped' }),
  })
}

type Refusal = readonly [DraftFailure, () => Problem, Visit?]

const refusals: Readonly<Record<Exclude<store.KeptDraft | 'full', 'kept' | 'ended'>, Refusal>> = {
  out_of_reach: ['forbidden', () => outOfReach(), byService],
  archived: [
    'conflict',
    () => new Problem('conflict', 'The client was archived. The letter was charged, but not kept.'),
  ],
  full: ['conflict', () => new Problem('conflict', 'The record is full. The letter was charged, but not kept.')],
  no_text: ['no_text', () => new Problem('internal', 'The text was charged, but could not be kept.')],
  uncharged: ['interrupted', () => interrupted()],
}

/** For a person who may no longer see the client. */
export const outOfReach = (): Problem =>
  new Problem('forbidden', 'You may no longer change this client. The text written so far was charged, but not kept.')

const interrupted = (): Problem =>
  new Problem('unavailable', 'The draft was interrupted. Nothing was charged. Start it again.', { retryAfter: 1 })
