import type { Scope } from '../access/policy.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { clientJson, consultantOf, waitingIn, type ClientJson } from './store.ts'

/** A letter whose review concerns a person. */
export interface ReviewedLetterJson {
  readonly id: string
  readonly subject: string
  readonly client: ClientJson
  readonly reviewer: { readonly id: string; readonly name: string }
  readonly asked_by: { readonly id: string; readonly name: string } | null
  /** When the review was asked for, or ended. In PostgreSQL's JSON. */
  readonly at: string
}

export interface ReviewsRow {
  readonly items: readonly ReviewedLetterJson[] | null
  readonly total: number
}

/** Of more, those that would be listed last are not counted. */
export const countedReviews = 1000
const listed = 50

const shown = (order: string) => `shown as materialized (select * from waiting order by ${order} limit ${listed})
  select (select count(*)::int from waiting) as total,
    (select json_agg(json_build_object('id', l.id, 'subject', l.subject, 'client', ${clientJson}, 'at', shown.at,
        'reviewer', json_build_object('id', v.id, 'name', v.name),
        'asked_by', case when a.id is null then null else json_build_object('id', a.id, 'name', a.name) end) order by ${order})
      from shown join letter l on l.id = shown.letter_id join client c on c.id = l.client_id join person p on p.id = c.consultant_id
        join person v on v.id = shown.reviewer_id left join person a on a.id = shown.created_by) as items`

/** Each review looks up its letter: the planner might read every draft instead, if it were free to. */
const ofDraft = `cross join lateral (
  select from letter l where l.id = r.letter_id and l.status = 'draft' and l.archived_at is null offset 0) its_letter`

/** The drafts of active clients that a person was asked to review, the longest waiting first. */
export function readLettersToReview(scope: Scope, personId: string | null): PreparedStatement<ReviewsRow> {
  return {
    name: `overview reviews ${scope.of}`,
    text: `with waiting as materialized (
        select r.letter_id, r.reviewer_id, r.created_by, r.created_at as at from ${waitingIn(scope, 'letter_review r', 'r.client_id')}
          ${ofDraft}
        where r.status = 'open' and r.reviewer_id = $2::uuid order by at, r.letter_id limit ${countedReviews + 1}),
      ${shown('at, letter_id')}`,
    values: [consultantOf(scope), personId],
  }
}

/**
 * The drafts of active clients whose review the person asked for, and which were returned or wait for someone who can no longer read the
 * record, unless a review was asked for again since. The latest first. If the person who asked can no longer read the record, its consultant
 * gets them.
 */
export function readReturnedLetters(scope: Scope, personId: string | null): PreparedStatement<ReviewsRow> {
  const { joined, asked } = {
    consultant: { joined: '', asked: 'true' },
    all: {
      joined: 'cross join lateral (select consultant_id from client where id = r.client_id offset 0) c',
      asked: 'r.created_by = $2::uuid',
    },
    none: { joined: '', asked: 'false' },
  }[scope.of]
  return {
    name: `overview returned ${scope.of}`,
    text: `with returned as materialized (
        select distinct on (r.letter_id) r.letter_id, r.reviewer_id, r.created_by, r.updated_at as at
        from ${waitingIn(scope, 'letter_review r', 'r.client_id')} ${joined} ${ofDraft}
        where r.status in ('open', 'returned') and ${asked} and task_owner(r.created_by, c.consultant_id) = $2::uuid
          and (r.status = 'returned' or not exists (select from reviewers_of(c.consultant_id) v where v.id = r.reviewer_id))
          and not exists (select from letter_review o where o.letter_id = r.letter_id and o.created_at > r.updated_at and o.status <> 'withdrawn'
            offset 0)
        order by r.letter_id, r.updated_at desc, r.id desc),
      waiting as materialized (select * from returned order by at desc, letter_id limit ${countedReviews + 1}),
      ${shown('at desc, letter_id')}`,
    values: [consultantOf(scope), personId],
  }
}
