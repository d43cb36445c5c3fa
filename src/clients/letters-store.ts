import type { Visit } from '../access/actor.ts'
import type { Scope } from '../access/policy.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { logged, loggedValues } from './logged-store.ts'
import { within } from './statements-store.ts'

interface VersionWrite {
  readonly visit: Visit
  readonly clientId: string
  /** The letter to copy. */
  readonly letterId: string
  /** The id of the new letter. */
  readonly id: string
}

/** Inserts nothing if the client is archived or outside the scope, the letter is archived, or the new one exists. */
export function insertVersion(scope: Scope, { visit, clientId, letterId, id }: VersionWrite): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `insert version ${name}`,
    text: `with changed as (
        insert into letter (id, client_id, subject, body, previous_id)
        select $3, c.id, n.subject, n.body, n.id from client c, letter n
        where ${condition} and c.id = $2 and c.status = 'active' and n.client_id = c.id and n.id = $4
          and n.archived_at is null
        on conflict (id) do nothing returning id, client_id, version)
      ${logged('letter', `'letter_version_created'`, 5)}`,
    values: [value, clientId, id, letterId, ...loggedValues(visit, [])],
  }
}
