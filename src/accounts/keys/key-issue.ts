import { randomUUIDv7 } from 'node:crypto'
import type { Visit } from '../../access/actor.ts'
import { recordWithin } from '../../access/audit/audit.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { showAccount } from '../account-lookup.ts'
import { joinBudgetsOf } from '../budgets/store.ts'
import { changeEvent } from '../events.ts'
import {
  checkKeyLimits,
  firstLimits,
  lockKeyAndAccount,
  namedLimits,
  setFirstLimits,
  unknownKey,
  type KeyLimitsChange,
} from './key-limits.ts'
import { createKey } from './new-key.ts'
import { checkName } from '../../platform/text/one-line.ts'
import { insertKey, lockKey, markRevoked, readKeySummary, replaceKey, type KeySummary } from './store.ts'

/** A new key. Its text is shown once and stored nowhere. */
export interface IssuedKey {
  readonly id: string
  readonly key: string
}

/** Shows a new key before it is committed. If it rejects, the key is not created, so no key exists that nobody has seen. */
export type ShowKey = (key: IssuedKey) => Promise<void>

/** A new key. */
export interface KeyRequest {
  /** Null for a key without an account, whose requests are refused. */
  readonly accountId: string | null
  readonly name: string
  /** Ids or aliases of models; null: every model. An alias permits the model to which it points at the time of a request. */
  readonly allowedModels: readonly string[] | null
  /** Null: never. */
  readonly expiresAt: Date | null
  /** Default: only those of the account. A key without an account has none. */
  readonly limits?: KeyLimitsChange | undefined
}

const longestOverlap = 365 * 24 * 60 * 60 * 1000

export async function issueKey(tx: Queryable, request: KeyRequest & { readonly id: string }, by: Visit) {
  const name = checkName(request.name)
  if (request.allowedModels?.length === 0) {
    throw new Problem('invalid_field', 'Name at least one model, or allow every model.', { field: 'allowed_models' })
  }
  if (request.expiresAt !== null && request.expiresAt.getTime() <= Date.now()) {
    throw new Problem('invalid_field', 'The key would already be expired: choose a later time.', {
      field: 'expires_at',
    })
  }
  const limits = firstLimits(request.limits)
  checkKeyLimits(limits)
  if (request.accountId !== null) await checkAccount(tx, request.accountId)
  const issued = await insert(tx, { ...request, name })
  if (request.accountId !== null) await setFirstLimits(tx, issued.id, limits)
  await recordWithin(tx, [changeEvent(by, 'key_created', issued.id, detailsOf({ ...request, name }))])
  return issued
}

export async function rotateKey(tx: Queryable, id: string, overlapMs: number, by: Visit): Promise<IssuedKey> {
  if (!(overlapMs >= 0 && overlapMs <= longestOverlap)) {
    throw new Problem('invalid_field', 'The overlap must be from 0 to 365 days.', { field: 'overlap' })
  }
  const old = await lockKeyAndAccount(tx, id)
  if (old === undefined) throw unknownKey(id)
  if (old.personId !== null) throw stale('This is a scratch key. It has no secret to replace: revoke it.')
  if (old.replacedBy !== null) throw stale(`This key was already rotated: rotate ${old.replacedBy}, which replaced it.`)
  if (old.status !== 'valid') throw stale(`This key is ${old.status}: create a new one.`)
  const issued = await insert(tx, { ...old, id: randomUUIDv7(), expiresAt: expiryLike(old) })
  await replaceKey(tx, { old: id, new: issued.id }, overlapMs)
  await joinBudgetsOf(tx, { old: id, new: issued.id })
  const details = { replaced_by: issued.id, overlap_seconds: String(overlapMs / 1000) }
  await recordWithin(tx, [changeEvent(by, 'key_rotated', id, details)])
  return issued
}

export async function revokeKey(tx: Queryable, id: string, by: Visit): Promise<void> {
  const key = isUuid(id) ? await lockKey(tx, id) : undefined
  if (key === undefined) throw unknownKey(id)
  if (key.status === 'revoked') return
  await markRevoked(tx, id)
  await recordWithin(tx, [changeEvent(by, 'key_revoked', id)])
}

export async function showKey(database: Queryable, id: string): Promise<KeySummary> {
  const key = isUuid(id) ? await readKeySummary(database, id) : undefined
  if (key === undefined) throw unknownKey(id)
  return key
}

/** The details of a new key for the audit log, without its text. */
function detailsOf({ name, accountId, allowedModels, expiresAt, limits }: KeyRequest): Record<string, string> {
  return {
    name,
    account: accountId ?? 'none',
    models: allowedModels?.join(' ') ?? 'all',
    expires: expiresAt?.toISOString() ?? 'never',
    ...namedLimits(firstLimits(limits)),
  }
}

async function insert(tx: Queryable, request: KeyRequest & { readonly id: string }): Promise<IssuedKey> {
  const { key, publicId, secretHash } = createKey()
  const { id, accountId, name, allowedModels, expiresAt } = request
  if (!(await insertKey(tx, { id, publicId, secretHash, accountId, name, allowedModels, expiresAt }))) throw shownOnce()
  return Object.freeze({ id, key })
}

async function checkAccount(tx: Queryable, id: string): Promise<void> {
  const { status } = await showAccount(tx, id)
  if (status === 'closed') {
    throw new Problem('invalid_field', 'This account is closed, so its keys would be refused.', { field: 'account_id' })
  }
}

/** The lifetime of the old key, starting now. */
function expiryLike(old: KeySummary): Date | null {
  if (old.expiresAt === null) return null
  return new Date(Date.now() + old.expiresAt.getTime() - old.createdAt.getTime())
}

/** Only the hash of a key is stored, so a repeated request cannot return the key that the first one created. */
function shownOnce(): Problem {
  return new Problem(
    'conflict',
    'An earlier request created this key, and a key is shown only once. If you did not receive it, revoke that key and create another one.',
  )
}

function stale(reason: string): Problem {
  return new Problem('conflict', reason)
}
