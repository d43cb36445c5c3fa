import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck, type VerifyQueries } from '../platform/verify-checks.ts'

const revocations: VerifyQueries = {
  'every key that was revoked is revoked': `
    select k.id as key, k.account_id as account, a.at as "revokedAt" from audit a join api_key k on k.id = a.noun_id
    where a.action = 'key_revoked' and a.outcome = 'allowed' and k.revoked_at is null`,
}

/** Checks that revoked keys have stayed revoked. */
export function verifyKeys(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, revocations)
}
