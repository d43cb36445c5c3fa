import { randomUUIDv7 } from 'node:crypto'
import type { Database, Queryable } from '../platform/database/database.ts'
import { quoted } from '../platform/one-line.ts'
import { Problem } from '../platform/problems.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { createKey, publicIdOf } from './key-format.ts'
import type { IssuedKey } from './keys.ts'
import { checkName } from '../platform/name.ts'
import { insertKey, lockKey, readAccount, replaceKey, revokeKey, type KeySummary } from './store.ts'

/** A key to be made. */
export interface KeyRequest {
  /** Null: the key bills no account, and its calls are refused for that. */
  readonly accountId: string | null
  readonly name: string
  /** Ids of models; null: every model. */
  readonly allowedModels: readonly string[] | null
  /** Null: never. */
  readonly expiresAt: Date | null
}

const longestOverlap = 365 * 24 * 60 * 60 * 1000

export async function issueKey(database: Queryable, request: KeyRequest): Promise<IssuedKey> {
  const name = checkName(request.name)
  if (request.allowedModels?.length === 0) {
    throw new Problem('invalid_field', 'Name at least one model, or allow every model.', { field: 'allowed_models' })
  }
  if (request.expiresAt !== null && request.expiresAt.getTime() <= Date.now()) {
    throw new Problem('invalid_field', 'The key would have expired already: choose a later time.', {
      field: 'expires_at',
    })
  }
  if (request.accountId !== null) await checkAccount(database, request.accountId)
  return insert(database, { ...request, name })
}

export async function rotate(tx: Queryable, id: string, options: { overlapMs: number }): Promise<IssuedKey> {
  const { overlapMs } = options
  if (!(overlapMs >= 0 && overlapMs <= longestOverlap)) {
    throw new Problem('invalid_field', 'The overlap must be from 0 to 365 days.', { field: 'overlap' })
  }
  const old = isUuid(id) ? await lockKey(tx, id) : undefined
  if (old === undefined) throw unknownKey(id)
  if (old.replacedBy !== null) throw stale(`This key was rotated before: rotate ${old.replacedBy}, which replaced it.`)
  if (old.status !== 'valid') throw stale(`This key is ${old.status}: create a new one.`)
  const issued = await insert(tx, { ...old, expiresAt: expiryLike(old) })
  await replaceKey(tx, { old: id, new: issued.id }, overlapMs)
  return issued
}

export async function revoke(database: Database, id: string): Promise<void> {
  if (!isUuid(id) || !(await revokeKey(database, id))) throw unknownKey(id)
}

async function insert(database: Queryable, request: KeyRequest): Promise<IssuedKey> {
  const { key, publicId, secretHash } = createKey()
  const { accountId, name, allowedModels, expiresAt } = request
  const id = randomUUIDv7()
  await insertKey(database, { id, publicId, secretHash, accountId, name, allowedModels, expiresAt })
  return Object.freeze({ id, key })
}

async function checkAccount(database: Queryable, id: string): Promise<void> {
  const account = isUuid(id) ? await readAccount(database, id) : undefined
  if (account === undefined) throw new Problem('not_found', `No account has the id ${id}.`)
  if (account.status === 'closed') {
    throw new Problem('invalid_field', 'This account is closed: its keys would be refused.', { field: 'account_id' })
  }
}

/** As long a life as the old key was given, from now on. */
function expiryLike(old: KeySummary): Date | null {
  if (old.expiresAt === null) return null
  return new Date(Date.now() + old.expiresAt.getTime() - old.createdAt.getTime())
}

function unknownKey(id: string): Problem {
  // Whoever wants to be rid of a key has the key at hand: it is not to be repeated to screens and logs.
  if (id.startsWith('tg_')) {
    const hint = `See which one begins with tg_${publicIdOf(id)}: ./tollgate key list`
    return new Problem('not_found', `Give the id of the key, not the key itself. ${hint}`)
  }
  return new Problem('not_found', `No key has the id ${quoted(id)}. See them all: ./tollgate key list`)
}

function stale(reason: string): Problem {
  return new Problem('invalid_field', reason, { field: 'id' })
}
