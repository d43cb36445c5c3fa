import type { Queryable } from '../../../platform/database/database.ts'

export interface ReviewNotice {
  readonly kind: 'asked' | 'returned' | 'approved'
  readonly clientId: string
  readonly letterId: string
  /** Who is told, and their address. Null: nobody, because it no longer concerns them, or they may not read the record. */
  readonly personId: string
  readonly to: string | null
  /** The name of the person who asked, returned or approved. */
  readonly by: string
}

/** Removes notices, within a transaction of `proven`. No other instance gets them in the meantime. */
export function takeReviewNotices(tx: Queryable, most: number): Promise<ReviewNotice[]> {
  return tx.rows(
    `with taken as materialized (
       select review_id, kind from letter_review_notice order by created_at, review_id limit $1 for update skip locked),
     gone as (
       delete from letter_review_notice n using taken t where (n.review_id, n.kind) = (t.review_id, t.kind)
       returning n.review_id, n.kind, n.created_at)
     select gone.kind, r.client_id as "clientId", r.letter_id as "letterId", p.id as "personId", coalesce(actor.name, '') as by,
       case when p.status = 'active' and (p.role = 'partner' or p.role = 'consultant' and p.id = c.consultant_id)
         and c.deleted_at is null and c.status = 'active' and l.archived_at is null
         and (r.status = 'open' or gone.kind <> 'asked') and gone.created_at > now() - interval '1 day' then p.email end as to
     from gone join letter_review r on r.id = gone.review_id join letter l on l.id = r.letter_id join client c on c.id = r.client_id
       join person p on p.id = case gone.kind when 'asked' then r.reviewer_id else r.created_by end
       left join person actor on actor.id = case gone.kind when 'asked' then r.created_by else r.updated_by end
     order by gone.created_at, r.id`,
    [most],
  )
}
