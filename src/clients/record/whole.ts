import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { may, scopeOf } from '../../access/policy.ts'
import { presentRevision } from './history.ts'
import { presentLetterMail, type LetterMail } from '../letters/mail/mails.ts'
import { readAllLetterMails } from '../letters/mail/store.ts'
import { presentReview } from '../letters/review/reviews.ts'
import type { LetterReview } from '../letters/review/schema.ts'
import { readAllReviews } from '../letters/review/store.ts'
import { readLettersToWrite, type LetterToExport } from '../letters/store.ts'
import { readTimersOf, type ClientTimerRow } from '../timer/store.ts'
import { presentWholeRecord, type WholeRecord } from '../present.ts'
import type { RevisedNoun, RevisionList } from '../schema.ts'
import { readOwner, readRevisions, readWholeRecord } from './store.ts'

/** Everything on a client's record, for an export. Both methods throw what `RecordAccess.refuse` throws. */
export interface WholeRecords {
  /** The record with archived items, its letters, oldest first, the mails with them and their reviews, and its timers. Records the export in the audit log. */
  read(
    visit: Visit,
    clientId: string,
  ): Promise<{
    readonly record: WholeRecord
    readonly letters: readonly LetterToExport[]
    readonly mails: readonly LetterMail[]
    readonly reviews: readonly LetterReview[]
    /** Those that people have started and not recorded. */
    readonly timers: readonly ClientTimerRow[]
  }>
  /** The revisions of a client or of one of its items, newest first. */
  revisions(
    visit: Visit,
    clientId: string,
    of: { readonly noun: RevisedNoun; readonly id: string },
  ): AsyncIterable<RevisionList['revisions'][number]>
}

const perRead = 50

export function createWholeRecords({ access, currency }: { access: RecordAccess; currency: string }): WholeRecords {
  return Object.freeze<WholeRecords>({
    async read(visit, clientId) {
      const scope = scopeOf(visit.actor, 'export', 'client')
      const [[row], letters, [sent], [reviewed], [timing]] = await access.as(visit, [
        readWholeRecord(scope, clientId),
        readLettersToWrite(scope, clientId),
        readAllLetterMails(scope, clientId),
        readAllReviews(scope, clientId),
        readTimersOf(scope, clientId),
      ])
      if (!row || !may(visit.actor, 'export', 'client', { consultantId: row.consultant_id })) {
        return access.refuse(visit, auditedOf(clientId))
      }
      await access.note(visit, auditedOf(clientId))
      const mails = (sent?.mails ?? []).map(presentLetterMail)
      const reviews = (reviewed?.reviews ?? []).map(presentReview)
      return { record: presentWholeRecord(row, currency), letters, mails, reviews, timers: timing?.timers ?? [] }
    },

    async *revisions(visit: Visit, clientId: string, { noun, id }: { noun: RevisedNoun; id: string }) {
      const scope = scopeOf(visit.actor, 'export', 'client')
      for (let before: string | undefined; before !== '1';) {
        const page = readRevisions(scope, clientId, { noun, id, before, limit: perRead })
        const [[owner], rows] = await access.as(visit, [readOwner(scope, clientId), page])
        // A reader who may no longer see the client gets a truncated file, which clients detect.
        if (!owner) return access.refuse(visit, auditedOf(clientId))
        for (const row of rows) yield presentRevision(noun, row, currency)
        before = String(rows.at(-1)?.version ?? 1)
      }
    },
  })
}

const auditedOf = (clientId: string) => ({ action: 'client_exported', noun: 'client', clientId, nounId: clientId })
