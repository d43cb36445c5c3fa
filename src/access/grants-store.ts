import type { Queryable } from '../platform/database/database.ts'
import { isUuid } from '../platform/database/uuid.ts'

/** The ids of the accounts that a person was granted. It counts only for developers. */
export async function readGrants(database: Queryable, personId: string): Promise<string[]> {
  const rows = await database.rows<{ id: string }>(
    'select account_id as id from account_grant where person_id = $1 order by 1',
    [personId],
  )
  return rows.map(({ id }) => id)
}

/** Whether the person was granted the account. False for an id of any other form. */
export async function isGranted(database: Queryable, personId: string, accountId: string): Promise<boolean> {
  if (!isUuid(accountId)) return false
  const rows = await database.rows('select from account_grant where person_id = $1 and account_id = $2', [
    personId,
    accountId,
  ])
  return rows.length > 0
}
