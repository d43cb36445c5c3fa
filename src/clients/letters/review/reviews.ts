import type { AuditedAction, RecordAccess } from '../../../access/access.ts'
import { personActor, type Visit } from '../../../access/actor.ts'
import { newId } from '../../../access/new-id.ts'
import { may, scopeOf, type ApprovalRule } from '../../../access/policy.ts'
import { codeOf } from '../../../platform/database/failure.ts'
import { recordId } from '../../../platform/database/uuid.ts'
import type { Basis } from '../../../platform/http/versions.ts'
import { Problem } from '../../../platform/problems.ts'
import type { Items } from '../../items/items.ts'
import { stale } from '../../items/outcomes.ts'
import { timeOf } from '../../items/values.ts'
import type { LetterReview, LetterReviewBody, LetterReviewList } from './schema.ts'
import * as store from './store.ts'

/**
 * The reviews of a letter: someone who works on a draft asks another person who can read the record. Every method applies the policy to the
 * client, writes an audit event whether it allows or refuses, and throws what `RecordAccess.refuse` throws. A review gives nobody access.
 */
export interface LetterReviews {
  list(visit: Visit, clientId: string, letterId: string): Promise<LetterReviewList>
  /**
   * Asks a person, who gets a mail. Idempotent per person and `key`. Throws Problem `invalid_field` for someone who cannot read the record
   * and for the person who asks, `stale_version` if the letter is no longer in that version, and `conflict` for a letter that is no draft, an
   * archived client or letter, and a person who was asked already.
   */
  ask(
    visit: Visit,
    clientId: string,
    letterId: string,
    asked: { readonly basis: Basis; readonly body: LetterReviewBody },
    key?: string,
  ): Promise<LetterReviewList>
  /**
   * Returns the letter to the person who asked, who gets a mail. Throws Problem `forbidden` for everyone but the reviewer, `stale_version` if
   * the letter is no longer in the version that they read, and `conflict` if the review is over or the client or the letter is archived.
   */
  return(
    visit: Visit,
    of: ReviewOfLetter,
    returned: { readonly basis: Basis; readonly reason: string },
  ): Promise<LetterReviewList>
  /** Withdraws a review. Throws Problem `conflict` as `return` does. */
  withdraw(visit: Visit, of: ReviewOfLetter): Promise<void>
}

export interface ReviewOfLetter {
  readonly clientId: string
  readonly letterId: string
  readonly reviewId: string
}

interface LetterReviewNeeds {
  readonly access: RecordAccess
  readonly letters: Pick<Items, 'read'>
  readonly rule: ApprovalRule
}

const auditedOf = (action: string, clientId: string, letterId: string): AuditedAction => ({
  action,
  noun: 'letter',
  clientId,
  nounId: letterId,
})

const readAfter = (visit: Visit, { clientId, letterId }: Omit<ReviewOfLetter, 'reviewId'>) =>
  store.readReviews(scopeOf(visit.actor, 'change', 'letter'), clientId, letterId)

export function createLetterReviews({ access, letters, rule }: LetterReviewNeeds): LetterReviews {
  /** Decides for each person, by what they wrote, whether they may approve the letter. */
  function present(visit: Visit, row: store.ReviewedLetter): LetterReviewList {
    const mayApprove = (actor: Visit['actor'], wrote: boolean) =>
      may(actor, 'approve', 'letter', { consultantId: row.consultant_id, approval: { rule, wrote } })
    return {
      reviews: (row.reviews ?? []).map(presentReview),
      reviewers: (row.reviewers ?? []).map(({ id, name, partner, wrote }) => ({
        id,
        name,
        may_approve: mayApprove(personActor({ id, role: partner ? 'partner' : 'consultant' }), wrote),
      })),
      may_approve: mayApprove(visit.actor, row.wrote),
    }
  }

  /** Checks that the actor may change the letter. */
  async function find(visit: Visit, clientId: string, letterId: string, audited: AuditedAction): Promise<void> {
    const [[row]] = await access.as(visit, [readAfter(visit, { clientId, letterId })])
    if (!row || !may(visit.actor, 'change', 'letter', { consultantId: row.consultant_id })) {
      await access.refuse(visit, audited)
    }
  }

  async function end(visit: Visit, of: ReviewOfLetter, ended: store.ReviewEnd): Promise<LetterReviewList> {
    const { clientId, letterId } = of
    const audited = auditedOf(`letter_review_${ended.status}`, clientId, letterId)
    await find(visit, clientId, letterId, audited)
    const statements = [store.endReview(visit, of, ended), readAfter(visit, of)] as const
    const [[result], [row]] = await access.as(visit, statements).catch(refused(visit, audited))
    switch (result?.outcome) {
      case 'ended':
        return row ? present(visit, row) : access.refuse(visit, audited)
      case 'other':
        return access.forbid(
          visit,
          audited,
          'Only the person who was asked returns the letter. Withdraw the review instead.',
        )
      case 'stale':
        return access.decline(visit, audited, stale(await letters.read(visit, clientId, letterId)))
      case 'archived':
        return access.decline(visit, audited, archived())
      case 'over':
        return access.decline(visit, audited, new Problem('conflict', 'This review is over: see how it ended.'))
      case 'unknown':
      case undefined:
        return access.refuse(visit, audited)
    }
  }

  /** Handles the errors of touch_client() and keep_letter_review(): the client left the scope, or the person cannot review the letter. */
  function refused(visit: Visit, audited: AuditedAction) {
    return (error: unknown) => {
      if (codeOf(error) === 'TG003') return access.refuse(visit, audited)
      if (codeOf(error) === 'TG011') return access.decline(visit, audited, unknownReviewer(error))
      throw error
    }
  }

  return Object.freeze<LetterReviews>({
    async list(visit, clientId, letterId) {
      const audited = auditedOf('letter_reviews_listed', clientId, letterId)
      const scope = scopeOf(visit.actor, 'read', 'letter')
      const [[row]] = await access.as(visit, [store.readReviews(scope, clientId, letterId)])
      if (!row || !may(visit.actor, 'read', 'letter', { consultantId: row.consultant_id })) {
        return access.refuse(visit, audited)
      }
      await access.note(visit, audited)
      return present(visit, row)
    },

    async ask(visit, clientId, letterId, { basis, body }, key) {
      const audited = auditedOf('letter_review_asked', clientId, letterId)
      await find(visit, clientId, letterId, audited)
      const review = {
        id: newId(visit, `${clientId}/letters/${letterId}/reviews`, key),
        reviewer: recordId(body.reviewer),
        message: body.message ?? null,
        basis,
      }
      const statements = [
        store.askReview(visit, { clientId, letterId }, review),
        readAfter(visit, { clientId, letterId }),
      ] as const
      const [[result], [row]] = await access.as(visit, statements).catch(refused(visit, audited))
      switch (result?.outcome) {
        case 'asked':
          return row ? present(visit, row) : access.refuse(visit, audited)
        case 'exists':
          await access.note(visit, { ...audited, action: 'letter_reviews_listed' })
          return row ? present(visit, row) : access.refuse(visit, audited)
        case 'stale':
          return access.decline(visit, audited, stale(await letters.read(visit, clientId, letterId)))
        case 'archived':
          return access.decline(visit, audited, archived())
        case 'approved':
        case 'open':
        case 'full':
          return access.decline(visit, audited, new Problem('conflict', reasons[result.outcome]))
        case 'unknown':
        case undefined:
          return access.refuse(visit, audited)
      }
    },

    return: (visit, of, { basis, reason }) => end(visit, of, { status: 'returned', reason, basis }),

    async withdraw(visit, of) {
      await end(visit, of, { status: 'withdrawn' })
    },
  })
}

const archived = (): Problem => new Problem('conflict', 'The client or the letter is archived: restore it first.')

const reasons = {
  approved: 'Only a draft is reviewed: take the letter back to a draft first.',
  open: 'This person was asked already, and has not answered yet.',
  full: 'A letter can have 100 reviews: start a new version of it.',
}

function unknownReviewer(cause: unknown): Problem {
  const reason =
    'The field reviewer must be the id of someone else who can read this record: a partner, or its consultant.'
  return new Problem('invalid_field', reason, { field: 'reviewer', cause })
}

export function presentReview(review: store.ReviewJson): LetterReview {
  const { id, letter_id, reviewer, letter_version, message, status, reason, ended_version, readable } = review
  const isOpen = status === 'open'
  return {
    id,
    letter_id,
    reviewer,
    by: review.created_by,
    at: timeOf(review.created_at),
    letter_version,
    message,
    status: isOpen && !readable ? 'lapsed' : status,
    reason,
    ended_version,
    ended_at: isOpen ? null : timeOf(review.updated_at),
    ended_by: isOpen ? null : review.updated_by,
  }
}
