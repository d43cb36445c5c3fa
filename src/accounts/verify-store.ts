import type { VerifyQueries } from '../platform/verify-checks.ts'

export const revocations: VerifyQueries = {
  'every key that was revoked is revoked': `
    select k.id as key, k.account_id as account, a.at as "revokedAt" from audit a join api_key k on k.id = a.noun_id
    where a.action = 'key_revoked' and a.outcome = 'allowed' and k.revoked_at is null`,
}
