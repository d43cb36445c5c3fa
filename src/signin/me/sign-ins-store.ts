import type { Queryable } from '../../platform/database/database.ts'

/** A sign-in as the audit log has it. */
export interface SignInRow {
  /** The session that it started. */
  readonly sessionId: string
  readonly at: Date
  /** The id of the method. */
  readonly method: string
  /** The browser; null if it is unknown. */
  readonly device: string | null
  readonly address: string | null
}

/** The newest sign-ins of a person. */
export function readSignIns(database: Queryable, personId: string, limit: number): Promise<SignInRow[]> {
  return database.rows(
    `select noun_id as "sessionId", at, details ->> 'method' as method, details ->> 'device' as device, address
     from audit where person_id = $1 and action = 'sign_in' order by id desc limit $2`,
    [personId, limit],
  )
}
