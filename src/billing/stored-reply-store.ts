import type { Queryable } from '../platform/database/database.ts'
import type { Idempotency, Replay, StoredReply } from './till.ts'

/** The reply that `till()` would replay, without admitting a new request. Undefined if there is none. */
export async function readStoredReply(
  database: Queryable,
  accountId: string,
  { key, hash }: Idempotency,
): Promise<Pick<Replay, 'originalRequestId' | 'headers' | 'body'> | undefined> {
  const [stored] = await database.rows<Pick<Replay, 'originalRequestId' | 'headers' | 'body'>>(
    `select hold_id as "originalRequestId", headers, body from idempotency
     where account_id = $1 and key = $2 and request_hash = $3
       and body is not null and created_at > clock_timestamp() - interval '24 hours'`,
    [accountId, key, hash],
  )
  return stored
}

/** Replaces the reply stored for a request. */
export async function updateStoredReply(
  database: Queryable,
  accountId: string,
  requestId: string,
  { headers, body }: StoredReply,
): Promise<void> {
  await database.rows('update idempotency set headers = $3, body = $4 where account_id = $1 and hold_id = $2', [
    accountId,
    requestId,
    headers,
    body,
  ])
}
