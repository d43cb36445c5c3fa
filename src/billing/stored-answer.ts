import type { Queryable } from '../platform/database/database.ts'
import type { Answer } from './till.ts'

/** What `till()` would answer a repeated request, without admitting one that is new. Undefined when there is nothing. */
export async function readStoredAnswer(
  database: Queryable,
  accountId: string,
  { key, hash }: { readonly key: string; readonly hash: string },
): Promise<Answer | undefined> {
  const [answer] = await database.rows<Answer>(
    `select headers, body from idempotency where account_id = $1 and key = $2 and request_hash = $3
       and body is not null and created_at > clock_timestamp() - interval '24 hours'`,
    [accountId, key, hash],
  )
  return answer
}
