import type { Queryable } from '../platform/database/database.ts'

export interface NewAttempt {
  readonly stateHash: Buffer
  readonly browserHash: Buffer
  readonly provider: string
  readonly nonce: string
  readonly codeVerifier: string
  readonly returnTo: string
  readonly expiresAt: Date
}

export async function insertAttempt(database: Queryable, attempt: NewAttempt): Promise<void> {
  await database.rows(
    `insert into sign_in_attempt (state_hash, browser_hash, provider, nonce, code_verifier, return_to, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      attempt.stateHash,
      attempt.browserHash,
      attempt.provider,
      attempt.nonce,
      attempt.codeVerifier,
      attempt.returnTo,
      attempt.expiresAt,
    ],
  )
}

/** Which attempt, by its state and any of the browser's cookies. */
interface Which {
  readonly stateHash: Buffer
  readonly browserHashes: readonly Buffer[]
}

/** Of several at the same time, one gets it. */
export async function useAttempt(
  database: Queryable,
  { stateHash, browserHashes, now }: Which & { readonly now: Date },
): Promise<Pick<NewAttempt, 'provider' | 'nonce' | 'codeVerifier' | 'returnTo'> | undefined> {
  const [attempt] = await database.rows<Pick<NewAttempt, 'provider' | 'nonce' | 'codeVerifier' | 'returnTo'>>(
    `update sign_in_attempt set used = true
     where state_hash = $1 and browser_hash = any($2) and not used and expires_at > $3
     returning provider, nonce, code_verifier as "codeVerifier", return_to as "returnTo"`,
    [stateHash, browserHashes, now],
  )
  return attempt
}

export async function readReturn(
  database: Queryable,
  { stateHash, browserHashes }: Which,
): Promise<string | undefined> {
  const [attempt] = await database.rows<{ returnTo: string }>(
    'select return_to as "returnTo" from sign_in_attempt where state_hash = $1 and browser_hash = any($2)',
    [stateHash, browserHashes],
  )
  return attempt?.returnTo
}
