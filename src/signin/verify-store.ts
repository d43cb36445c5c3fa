import type { Queryable } from '../platform/database/database.ts'
import type { ProvenRow } from './attempt/attempts-store.ts'
import type { LinkRow } from './methods/email-link/store.ts'
import type { FoundReset } from './methods/password/reset-store.ts'

/** A row with its primary key. */
type Identified<Row> = Row & { readonly id: string }

/** Not of an earlier version, which may have gone on for some time after an upgrade. A new database has all of its migrations at once. */
const isOwn = `expires_at > coalesce((select max(at) + interval '1 hour' from migration having max(at) > min(at)), '-infinity')`

export function readLinks(
  tx: Queryable,
): Promise<Identified<Pick<LinkRow, 'tokenHash' | 'email' | 'code' | 'stateHash'>>[]> {
  return tx.rows(
    `select email_key as id, token_hash as "tokenHash", email, code, state_hash as "stateHash" from email_link where ${isOwn}`,
  )
}

export function readResets(tx: Queryable): Promise<Identified<FoundReset>[]> {
  return tx.rows(`select email_key as id, token_hash as "tokenHash", email, proof from password_reset where ${isOwn}`)
}

export function readProvenAttempts(
  tx: Queryable,
): Promise<Identified<Pick<ProvenRow, 'stateHash' | 'browserHash' | 'personId' | 'proof'>>[]> {
  return tx.rows(
    `select encode(state_hash, 'hex') as id, state_hash as "stateHash", browser_hash as "browserHash", person_id as "personId", proof
     from sign_in_attempt where step = 'proven' and ${isOwn}`,
  )
}
