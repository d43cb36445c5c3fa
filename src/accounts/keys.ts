import { timingSafeEqual } from 'node:crypto'
import type { Logger } from 'pino'
import { bearerOf } from '../platform/http/bearer.ts'
import type { Database } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import { createKeyCache, type KnownKey } from './key-cache.ts'
import { hashKey, hashSecret, parseKey, publicIdOf, type ParsedKey } from './key-format.ts'
import { createLastUsed } from './last-used.ts'
import { issueKey, revoke, rotate, type KeyRequest } from './key-issue.ts'
import { readKeySummaries, type KeySummary } from './store.ts'

export type { KeyRequest } from './key-issue.ts'
export type { KeySummary } from './store.ts'

/** Who calls, and which account pays. */
export interface Caller {
  /** The part of the key's text that is no secret. */
  readonly publicId: string
  readonly keyId: string
  readonly accountId: string
  /** Ids of models; null: every model. */
  readonly allowedModels: readonly string[] | null
}

/** A key that was just made. The text is shown once and kept nowhere. */
export interface IssuedKey {
  readonly id: string
  readonly key: string
}

export interface Keys {
  /**
   * Who sent this Authorization header; without a promise where that is known already, since it is asked for every
   * request. Every change to a key or its account holds within a second, also when another instance made it. Rejects with
   * Problem: `missing_key`, `invalid_key`, `expired_key`, `revoked_key`, `no_billing_account`, and `unavailable` when the
   * database is away.
   */
  identify(authorization: string | undefined): Caller | Promise<Caller>
  /** Who that is a while later: as `identify`, but for the proof of the secret, which was given. */
  identifyAgain(caller: Caller): Caller | Promise<Caller>
  /** Throws Problem `not_found` for an unknown account, `invalid_field` for what the rules refuse. */
  create(request: KeyRequest): Promise<IssuedKey>
  /** In the order of their making: those of one account, or all. */
  list(accountId?: string): Promise<KeySummary[]>
  /**
   * Makes a key for the same account, name and models that lives as long as the old one was to live; the old one is
   * valid for `overlapMs` more. Throws Problem `not_found`, or `invalid_field` for a key that is no longer valid.
   */
  rotate(id: string, options: { readonly overlapMs: number }): Promise<IssuedKey>
  /** Throws Problem `not_found`. Revoking a key again changes nothing. */
  revoke(id: string): Promise<void>
  /** Writes when keys were last used, and ends the work in the background. */
  close(): Promise<void>
}

/** Compared with where there is no key, so that an unknown public id takes the same work as a wrong secret. */
const nobody = Buffer.alloc(32)

export function createKeys({ database, log }: { database: Database; log: Logger }): Keys {
  const cache = createKeyCache({ database, log })
  const lastUsed = createLastUsed({ database, log })

  const identify = async (authorization: string | undefined): Promise<Caller> => {
    const { text, publicId, secret } = readHeader(authorization)
    const hash = hashSecret(secret)
    // Only a right secret spares the look-up: a wrong one and an unknown public id both take it, and the same time.
    const key = proven(hash, cache.fresh(publicId)) ?? proven(hash, await cache.lookUp(publicId))
    if (key === undefined) throw unknownKey()
    cache.keep(key, hashKey(text))
    const caller = granted(callerOf(key))
    lastUsed.note(key.id)
    return caller
  }

  const identifyAgain = async ({ publicId }: Caller): Promise<Caller> => {
    const key = cache.fresh(publicId) ?? (await cache.lookUp(publicId))
    if (key === undefined) throw unknownKey()
    return granted(callerOf(key))
  }

  return Object.freeze({
    identify(authorization: string | undefined) {
      const text = bearerOf(authorization)
      const key = text === undefined ? undefined : cache.sent(publicIdOf(text), hashKey(text))
      const caller = key && callerOf(key)
      if (key === undefined || caller === undefined || caller instanceof Problem) return identify(authorization)
      lastUsed.note(key.id)
      return caller
    },
    identifyAgain(known: Caller) {
      const key = cache.fresh(known.publicId)
      const caller = key && callerOf(key)
      return caller === undefined || caller instanceof Problem ? identifyAgain(known) : caller
    },
    create: (request: KeyRequest) => issueKey(database, request),
    list: (accountId?: string) => readKeySummaries(database, accountId),
    rotate: (id: string, options: { readonly overlapMs: number }) =>
      database.transaction((tx) => rotate(tx, id, options)),
    revoke: (id: string) => revoke(database, id),
    async close() {
      await Promise.all([cache.close(), lastUsed.close()])
    },
  })
}

function readHeader(authorization: string | undefined): ParsedKey & { readonly text: string } {
  const text = bearerOf(authorization)
  if (text === undefined) {
    throw new Problem('missing_key', 'Send your API key in the header "Authorization: Bearer tg_…".')
  }
  const parsed = parseKey(text)
  if (parsed === undefined) {
    throw new Problem('invalid_key', 'This is not a whole key of ours: copy it again, all 66 characters from tg_ on.')
  }
  return { text, ...parsed }
}

function proven(hash: Buffer, key: KnownKey | undefined): KnownKey | undefined {
  return timingSafeEqual(hash, key?.secretHash ?? nobody) ? key : undefined
}

function unknownKey(): Problem {
  return new Problem('invalid_key', 'This key does not exist. Check which key you send.')
}

/** Who calls with this key, or why nobody may. */
function callerOf(key: KnownKey): Caller | Problem {
  if (key.revoked) return new Problem('revoked_key', 'This key was revoked. Use another key, or ask for a new one.')
  if (key.expiresAt <= performance.now()) {
    return new Problem('expired_key', 'This key has expired or was rotated out. Use the key that took its place.')
  }
  if (key.accountId === null) {
    return new Problem('no_billing_account', 'This key bills no account. Use a key that was made for an account.')
  }
  if (!key.accountOpen) {
    return new Problem('no_billing_account', 'The account that this key bills is closed. Use a key of an open account.')
  }
  return { publicId: key.publicId, keyId: key.id, accountId: key.accountId, allowedModels: key.allowedModels }
}

function granted(answer: Caller | Problem): Caller {
  if (answer instanceof Problem) throw answer
  return answer
}
