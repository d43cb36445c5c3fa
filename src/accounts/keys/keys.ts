import { foldCharges } from '../../billing/appended-charges.ts'
import { randomUUIDv7, timingSafeEqual } from 'node:crypto'
import type { Logger } from 'pino'
import type { Visit } from '../../access/actor.ts'
import { bearerOf } from '../../platform/http/input/headers.ts'
import type { Database } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import type { KnownBudgets } from '../budgets/known-budgets.ts'
import { createKeyCache, type KnownKey } from './key-cache.ts'
import { parseKey, publicIdOf, type ParsedKey } from './key-format.ts'
import { hashKey, hashSecret } from './new-key.ts'
import { createLastUsed } from './last-used.ts'
import { issueKey, revokeKey, rotateKey, showKey, type IssuedKey, type KeyRequest, type ShowKey } from './key-issue.ts'
import { setKeyLimits, type KeyLimitsChange } from './key-limits.ts'
import { useScratchKey, type ScratchUse } from './scratch-key.ts'
import { readKeySummaries, type KeySummary } from './store.ts'

export type { IssuedKey, KeyRequest } from './key-issue.ts'
export type { KeyLimits } from './key-limits.ts'
export type { KeySummary } from './store.ts'

/** An authenticated caller and the account that pays. */
export interface Caller {
  /** The public part of the key's text. */
  readonly publicId: string
  readonly keyId: string
  readonly accountId: string
  /** Whether the account is the firm's own. */
  readonly own: boolean
  /** Ids or aliases of models; null: every model. */
  readonly allowedModels: readonly string[] | null
  /** The limits of the key, besides those of its account. */
  readonly limitId: string | undefined
  /** The hard budgets of the account that its keys and tags share. Undefined without any. */
  readonly sharedBudgets: KnownBudgets | undefined
}

export interface Keys {
  /**
   * Returns the caller who sent this Authorization header, without a promise if the cache has the key. A change to a key
   * or its account takes effect within a second on every instance. Rejects with Problem `missing_key`, `invalid_key`,
   * `expired_key`, `revoked_key`, `no_billing_account`, and `unavailable` when the database is unreachable.
   */
  identify(authorization: string | undefined): Caller | Promise<Caller>
  /** Checks a known caller again, without the secret. Otherwise like `identify`. */
  identifyAgain(caller: Pick<Caller, 'publicId'>): Caller | Promise<Caller>
  /**
   * The caller as whom a signed-in person calls the API: a scratch key of their own on this account, which is created at its
   * first use. It has no text, so it can be used only here. It expires 24 hours after its last use, and the next use renews
   * it. Throws Problem `revoked_key` for 24 hours after it was revoked. The account must exist and be open.
   */
  scratch(use: ScratchUse, by: Visit): Promise<Caller>
  /**
   * Throws Problem `not_found` for an unknown account, `invalid_field` for values that break a rule, and `conflict` if a key
   * has the id of the request.
   */
  create(request: KeyRequest & { readonly id?: string }, by: Visit, show?: ShowKey): Promise<IssuedKey>
  /** Throws Problem `not_found`. */
  show(id: string): Promise<KeySummary>
  /** In order of creation: the keys of one account, or all. */
  list(accountId?: string): Promise<KeySummary[]>
  /**
   * Creates a key with the same account, name, models and lifetime, which shares the limits and all budgets. The old key stays valid for `overlapMs`. Throws
   * Problem `not_found`, or `conflict` for a key that is no longer valid.
   */
  rotate(id: string, options: { readonly overlapMs: number }, by: Visit, show?: ShowKey): Promise<IssuedKey>
  /**
   * Changes the limits and budgets of the key, and of the keys that it replaced or that replaced it: they share them, with what
   * was spent. Absent fields keep their values. Takes effect within a second on every instance; what the key then has in flight
   * may still be charged. Throws Problem `not_found`, `invalid_field`, or `conflict` for a scratch key or one without an account.
   */
  setLimits(id: string, change: KeyLimitsChange, by: Visit): Promise<KeySummary>
  /** Throws Problem `not_found`. Idempotent. */
  revoke(id: string, by: Visit): Promise<void>
  /** Writes the times of last use and stops the background work. */
  close(): Promise<void>
}

/** Stands in for the hash of an unknown public id, so that the comparison takes as long as for a wrong secret. */
const noHash = Buffer.alloc(32)

export function createKeys({ database, log }: { database: Database; log: Logger }): Keys {
  const cache = createKeyCache({ database, log })
  const lastUsed = createLastUsed({ database, log })

  const identify = async (authorization: string | undefined): Promise<Caller> => {
    const { text, publicId, secret } = readHeader(authorization)
    const hash = hashSecret(secret)
    // Only the right secret skips the lookup: a wrong secret and an unknown public id take the same time.
    const key = proven(hash, cache.fresh(publicId)) ?? proven(hash, await cache.lookUp(publicId))
    if (key === undefined) throw unknownKey()
    cache.keep(key, hashKey(text))
    const caller = granted(callerOf(key))
    lastUsed.note(key.id)
    return caller
  }

  const identifyAgain = async ({ publicId }: Pick<Caller, 'publicId'>): Promise<Caller> => {
    const key = cache.fresh(publicId) ?? (await cache.lookUp(publicId))
    if (key === undefined) throw unknownKey()
    return granted(callerOf(key))
  }

  return Object.freeze<Keys>({
    identify(authorization) {
      const text = bearerOf(authorization)
      const key = text === undefined ? undefined : cache.sent(publicIdOf(text), hashKey(text))
      const caller = key && callerOf(key)
      if (key === undefined || caller === undefined || caller instanceof Problem) return identify(authorization)
      lastUsed.note(key.id)
      return caller
    },
    identifyAgain(known) {
      const key = cache.fresh(known.publicId)
      const caller = key && callerOf(key)
      return caller === undefined || caller instanceof Problem ? identifyAgain(known) : caller
    },
    async scratch(use, by) {
      const { id: keyId, publicId } = await useScratchKey(database, use, by)
      lastUsed.note(keyId)
      // Its tags may have a budget.
      const key = cache.fresh(publicId) ?? (await cache.lookUp(publicId))
      const { sharedBudgets } = key ?? {}
      return {
        publicId,
        keyId,
        accountId: use.accountId,
        own: false,
        allowedModels: null,
        limitId: undefined,
        sharedBudgets,
      }
    },
    create: (request: KeyRequest & { readonly id?: string }, by: Visit, show: ShowKey = async () => undefined) =>
      database.transaction((tx) => shown(issueKey(tx, { id: randomUUIDv7(), ...request }, by), show)),
    async show(id) {
      await foldCharges(database)
      return showKey(database, id)
    },
    async list(accountId?: string) {
      await foldCharges(database)
      return readKeySummaries(database, accountId)
    },
    rotate: (
      id: string,
      { overlapMs }: { readonly overlapMs: number },
      by: Visit,
      show: ShowKey = async () => undefined,
    ) => database.transaction((tx) => shown(rotateKey(tx, id, overlapMs, by), show)),
    setLimits: (id, change, by) => database.transaction((tx) => setKeyLimits(tx, id, change, by)),
    revoke: (id: string, by: Visit) => database.transaction((tx) => revokeKey(tx, id, by)),
    async close() {
      await Promise.all([cache.close(), lastUsed.close()])
    },
  })
}

async function shown(issuing: Promise<IssuedKey>, show: ShowKey): Promise<IssuedKey> {
  const issued = await issuing
  await show(issued)
  return issued
}

function readHeader(authorization: string | undefined): ParsedKey & { readonly text: string } {
  const text = bearerOf(authorization)
  if (text === undefined) {
    throw new Problem('missing_key', 'Send your API key in the header "Authorization: Bearer tg_…".')
  }
  const parsed = parseKey(text)
  if (parsed === undefined) {
    throw new Problem('invalid_key', 'Invalid API key. Copy all 66 characters, starting with tg_.')
  }
  return { text, ...parsed }
}

function proven(hash: Buffer, key: KnownKey | undefined): KnownKey | undefined {
  return timingSafeEqual(hash, key?.secretHash ?? noHash) ? key : undefined
}

function unknownKey(): Problem {
  return new Problem('invalid_key', 'Unknown API key. Check which key you are sending.')
}

/** The caller who uses this key, or why it is refused. */
function callerOf(key: KnownKey): Caller | Problem {
  if (key.revoked) return new Problem('revoked_key', 'This key was revoked. Use another key, or ask for a new one.')
  if (key.expiresAt <= performance.now()) {
    return new Problem('expired_key', 'This key has expired or was replaced. Use the key that replaced it.')
  }
  if (key.accountId === null) {
    return new Problem('no_billing_account', 'This key has no account. Use a key that belongs to an account.')
  }
  if (!key.accountOpen) {
    return new Problem('no_billing_account', 'This key belongs to a closed account. Use a key from an open account.')
  }
  const { publicId, id: keyId, accountId, own, allowedModels, limitId, sharedBudgets } = key
  return { publicId, keyId, accountId, own, allowedModels, limitId: limitId ?? undefined, sharedBudgets }
}

function granted(caller: Caller | Problem): Caller {
  if (caller instanceof Problem) throw caller
  return caller
}
