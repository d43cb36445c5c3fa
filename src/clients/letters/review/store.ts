import type { Visit } from '../../../access/actor.ts'
import type { Scope } from '../../../access/policy.ts'
import type { PreparedStatement } from '../../../platform/database/pipeline.ts'
import type { Basis } from '../../../platform/http/versions.ts'
import type { PersonJson } from '../../items/store.ts'
import { personJson, within } from '../../statements-store.ts'

/** A review of a letter, in PostgreSQL's JSON. */
export interface ReviewJson {
  readonly id: string
  readonly letter_id: string
  readonly reviewer: PersonJson
  readonly created_by: PersonJson | null
  readonly created_at: string
  readonly letter_version: number
  readonly message: string | null
  readonly status: 'open' | 'returned' | 'approved' | 'withdrawn'
  readonly reason: string | null
  readonly ended_version: number | null
  readonly updated_by: PersonJson | null
  readonly updated_at: string
  /** Whether the reviewer can read the record. */
  readonly readable: boolean
}

export interface ReviewerJson extends PersonJson {
  readonly partner: boolean
  /** Whether they wrote any of the letter's text. */
  readonly wrote: boolean
}

/** The reviews of letters of the client `c`, the latest first. */
const reviewsOf = (letters: string) => `(select json_agg(review) from (
    select r.id, r.letter_id, ${personJson('v')} as reviewer, ${personJson('a')} as created_by, r.created_at, r.letter_version, r.message,
      r.status, r.reason, r.ended_version, ${personJson('u')} as updated_by, r.updated_at,
      exists (select from reviewers_of(c.consultant_id) reader where reader.id = r.reviewer_id) as readable
    from letter_review r join person v on v.id = r.reviewer_id left join person a on a.id = r.created_by
      left join person u on u.id = r.updated_by
    where ${letters} order by r.created_at desc, r.id desc) review) as reviews`

export interface ReviewedLetter {
  readonly consultant_id: string
  /** Whether the person of the transaction wrote any of the letter's text. */
  readonly wrote: boolean
  readonly reviews: readonly ReviewJson[] | null
  /** Those who can read the record, without the person of the transaction. */
  readonly reviewers: readonly ReviewerJson[] | null
}

/** The reviews of a letter, and who can review it. No row if it is out of reach. */
export function readReviews(scope: Scope, clientId: string, letterId: string): PreparedStatement<ReviewedLetter> {
  const { condition, value, name } = within(scope)
  return {
    name: `letter reviews ${name}`,
    text: `select c.consultant_id, wrote_letter(n.id, portal_person()) as wrote, ${reviewsOf('r.letter_id = n.id')},
        (select json_agg(json_build_object('id', v.id, 'name', v.name, 'partner', v.partner, 'wrote', wrote_letter(n.id, v.id))
            order by v.name, v.id)
          from reviewers_of(c.consultant_id) v where v.id is distinct from portal_person()) as reviewers
      from client c join letter n on n.client_id = c.id where ${condition} and c.id = $2 and n.id = $3`,
    values: [value, clientId, letterId],
  }
}

/** The reviews of all letters of a client. */
export function readAllReviews(
  scope: Scope,
  clientId: string,
): PreparedStatement<{ readonly reviews: readonly ReviewJson[] | null }> {
  const { condition, value, name } = within(scope)
  return {
    name: `all letter reviews ${name}`,
    text: `select ${reviewsOf('r.client_id = c.id')} from client c where ${condition} and c.id = $2`,
    values: [value, clientId],
  }
}

interface OfLetter {
  readonly clientId: string
  readonly letterId: string
}

export interface NewReview {
  readonly id: string
  readonly reviewer: string
  readonly message: string | null
  readonly basis: Basis
}

/** See ask_letter_review(). */
export type AskOutcome = 'asked' | 'exists' | 'unknown' | 'archived' | 'approved' | 'stale' | 'open' | 'full'

export function askReview(
  { requestId, address }: Visit,
  { clientId, letterId }: OfLetter,
  review: NewReview,
): PreparedStatement<{ readonly outcome: AskOutcome }> {
  return {
    name: 'ask for review',
    text: 'select ask_letter_review($1, $2, $3, $4, $5) as outcome',
    values: [clientId, letterId, JSON.stringify(review), requestId, address],
  }
}

export type ReviewEnd =
  | { readonly status: 'returned'; readonly reason: string; readonly basis: Basis }
  | { readonly status: 'withdrawn' }

/** See end_letter_review(). */
export type EndOutcome = 'ended' | 'unknown' | 'archived' | 'over' | 'other' | 'stale'

export function endReview(
  { requestId, address }: Visit,
  { clientId, letterId, reviewId }: OfLetter & { readonly reviewId: string },
  end: ReviewEnd,
): PreparedStatement<{ readonly outcome: EndOutcome }> {
  return {
    name: 'end review',
    text: 'select end_letter_review($1, $2, $3, $4, $5, $6) as outcome',
    values: [clientId, letterId, reviewId, JSON.stringify(end), requestId, address],
  }
}
