import { foldCharges } from '../billing/appended-charges.ts'
import * as store from './drafting-store.ts'
import type { Logger } from 'pino'
import type { AuditedAction } from '../access/access.ts'
import { byService, personActor, type Visit } from '../access/actor.ts'
import { may } from '../access/policy.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Records } from '../clients/records.ts'
import type { Generation, Reply } from '../generation/generation.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import { presentCosts, readCosts } from './costs-store.ts'
import { createEndings, type Endings } from './endings.ts'
import { createPayment } from './payment.ts'
import { checkLetter } from './check/check.ts'
import { plainText } from './check/plain-text.ts'
import { presentCheck, presentDraft } from './present.ts'
import { sourceText } from './prompt.ts'
import { createRuns, type DraftRequest, type DraftStep } from './run.ts'
import type { ClientCosts, ShownCheck, ShownDraft } from './schema.ts'
import { createEach } from '../platform/flow/each.ts'
import { repeat } from '../platform/flow/repeat.ts'
import { readOpenDrafts, type OpenDraft } from './drafting-store.ts'

export { faultOfDrafting } from './payment.ts'
export type { DraftRequest, DraftStep } from './run.ts'

/**
 * Letters that a model drafts inside a client's record, paid by the firm's own account. Every method applies the policy to
 * the client, writes an audit event, and throws what `RecordAccess.refuse` throws if the actor cannot see the client.
 */
export interface Drafting {
  /**
   * Reads the sources as the person (`startDraft` decides which), records the draft, and writes. The draft is recorded before anything can be charged,
   * and its letter and its charge agree, whatever crashes. If the id has a draft already, its only step is that draft.
   * Throws Problem before the first text: `conflict` if drafting is not set up or the client is archived, and what the till
   * and the model refuse. Read the steps to their end: a reader that goes away does not stop the draft.
   */
  write(visit: Visit, clientId: string, asked: DraftRequest): AsyncIterable<DraftStep>
  /** Stops a running draft, on any instance. What was written by then becomes the letter. */
  stop(visit: Visit, clientId: string, id: string): Promise<ShownDraft>
  /** The newest 200 drafts of a client, or of one of its letters. */
  list(visit: Visit, clientId: string, letterId?: string): Promise<ShownDraft[]>
  read(visit: Visit, clientId: string, id: string): Promise<ShownDraft>
  /** How the draft's letter, as it is saved, rests on the draft's sources as they are now. Throws Problem `conflict` if there is no letter. */
  check(visit: Visit, clientId: string, id: string): Promise<ShownCheck>
  /** What the client has cost: sums of the ledger. */
  costs(visit: Visit, clientId: string): Promise<ClientCosts>
  /** Every draft, the oldest first, and the costs, for an export that the caller has recorded. */
  exported(visit: Visit, clientId: string): Promise<{ readonly drafts: ShownDraft[]; readonly costs: ClientCosts }>
  /** Stops the drafts in progress, which keep what was written, and waits for them. */
  endAll(this: void): Promise<void>
  /** Stops looking for the drafts of instances that have stopped. */
  close(this: void): Promise<void>
}

export interface DraftingNeeds {
  readonly settings: Config['drafting']
  readonly records: Pick<Records, 'access' | 'letters'>
  readonly generation: Generation
  readonly accounts: Pick<Accounts, 'find'>
  readonly database: Database
  readonly currency: string
  /** The name of the firm, if it has one. */
  readonly firm: string | undefined
  readonly log: Logger
  /** ms between two looks for drafts whose instances have stopped. Default 5000. */
  readonly recoveryPause?: number | undefined
  /** Called for every charged draft. */
  readonly onCharged?: (model: string, usage: Reply['usage']) => void
}

/** The characters of all sources with which a letter is compared, whatever they had when it was drafted. */
const mostCompared = 1_000_000

export function createDrafting(needs: DraftingNeeds): Drafting {
  const { records, generation, accounts, settings, database, currency, log } = needs
  const { access } = records
  const payment = createPayment({ settings, accounts, generation })
  const endings = createEndings({ access, log })
  const runs = createRuns({ ...needs, endings })
  const recovery = startRecovery({ database, endings, log, pause: needs.recoveryPause })

  async function found(visit: Visit, audited: AuditedAction, statement: ReturnType<typeof store.readDrafts>) {
    const [[row]] = await access.as(visit, [statement])
    const mayRead = row && may(visit.actor, 'read', 'letter', { consultantId: row.consultant_id })
    if (!row || !mayRead) return access.refuse(visit, audited)
    return (row.drafts ?? []).map((each) => presentDraft(each, currency))
  }

  async function one(visit: Visit, audited: AuditedAction, clientId: string, id: string): Promise<ShownDraft> {
    const [draft] = await found(visit, audited, store.readDraft(clientId, id))
    return draft ?? access.refuse(visit, audited)
  }

  return Object.freeze<Drafting>({
    async *write(visit: Visit, clientId: string, asked: DraftRequest): AsyncGenerator<DraftStep, void, void> {
      const paid = await payment.find(visit.actor)
      if (paid instanceof Problem) {
        const audited = { action: 'draft_started', noun: 'draft', clientId }
        const [earlier] = await found(visit, audited, store.readDraft(clientId, asked.id))
        if (earlier === undefined) return access.decline(visit, audited, paid)
        return yield await runs.repeat(visit, { id: asked.id, clientId })
      }
      yield* runs.write(visit, clientId, asked, paid)
    },

    async stop(visit, clientId, id) {
      const audited = { action: 'draft_stopped', noun: 'draft', clientId, nounId: id }
      const draft = await one(visit, audited, clientId, id)
      await access.as(visit, [store.askToStop(visit, clientId, id)])
      runs.stop(id)
      return draft
    },

    async list(visit: Visit, clientId: string, letterId?: string) {
      const done = { action: 'drafts_listed', noun: 'draft', clientId }
      const drafts = await found(visit, done, store.readDrafts(clientId, letterId))
      await access.note(visit, done)
      return drafts
    },

    async read(visit, clientId, id) {
      const done = { action: 'draft_read', noun: 'draft', clientId, nounId: id }
      const draft = await one(visit, done, clientId, id)
      await access.note(visit, done)
      if (draft.status !== 'running' || runs.isRunning(id)) return draft
      // Its instance may have stopped: what is charged can be kept now.
      await recovery.look()
      return one(visit, done, clientId, id)
    },

    async check(visit, clientId, id) {
      const done = { action: 'draft_checked', noun: 'draft', clientId, nounId: id }
      const [[row]] = await access.as(visit, [store.readCheckedDraft(clientId, id, mostCompared)])
      if (!row || !may(visit.actor, 'read', 'letter', { consultantId: row.consultant_id }))
        return access.refuse(visit, done)
      if (row.letter_id === null || row.letter_version === null || row.body === null) {
        return access.decline(visit, done, new Problem('conflict', 'This draft has left no letter to check.'))
      }
      if (row.sources.reduce((sum, { length }) => sum + (length ?? 0), 0) > mostCompared) {
        const reason = 'The sources are too long together to be compared with the letter.'
        return access.decline(visit, done, new Problem('conflict', reason))
      }
      const texts = row.sources.map((source) =>
        source.present_version === null ? '' : sourceText(source, { client: row.client, currency }),
      )
      const known = [row.instructions, row.client, row.writer ?? '', needs.firm ?? '']
      const check = await checkLetter(await plainText(row.body), texts, known)
      await access.note(visit, done)
      return presentCheck({ id: row.letter_id, version: row.letter_version }, row.sources, check)
    },

    async costs(visit, clientId) {
      const done = { action: 'costs_read', noun: 'client', clientId, nounId: clientId }
      await foldCharges(database)
      const [[row]] = await access.as(visit, [readCosts(clientId)])
      if (!row || !may(visit.actor, 'read', 'client', { consultantId: row.consultant_id })) {
        return access.refuse(visit, done)
      }
      await access.note(visit, done)
      return presentCosts(row, currency)
    },

    async exported(visit, clientId) {
      await foldCharges(database)
      const [[row], [costs]] = await access.as(visit, [store.readAllDrafts(clientId), readCosts(clientId)])
      const isReadable = row && may(visit.actor, 'export', 'client', { consultantId: row.consultant_id })
      if (!isReadable || !costs) {
        return access.refuse(visit, { action: 'client_exported', noun: 'client', clientId, nounId: clientId })
      }
      return {
        drafts: (row.drafts ?? []).map((each) => presentDraft(each, currency)),
        costs: presentCosts(costs, currency),
      }
    },

    endAll: runs.endAll,
    close: recovery.stop,
  })
}

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
function startRecovery({ database, endings, log, pause = 5000 }: RecoveryNeeds) {
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
