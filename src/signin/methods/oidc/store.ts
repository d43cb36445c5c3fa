import type { Queryable } from '../../../platform/database/database.ts'

/** False if the token was accepted before. */
export async function acceptLogoutToken(
  database: Queryable,
  { issuer, jti, expiresAt }: { readonly issuer: string; readonly jti: string; readonly expiresAt: Date },
): Promise<boolean> {
  const rows = await database.rows(
    'insert into logout_token (issuer, jti, expires_at) values ($1, $2, $3) on conflict do nothing returning 1',
    [issuer, jti, expiresAt],
  )
  return rows.length > 0
}
