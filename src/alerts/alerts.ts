import * as store from './store.ts'
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Visit } from '../access/actor.ts'
import { recordWithin } from '../access/audit/audit.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { isUuid } from '../platform/database/uuid.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { Problem } from '../platform/problems.ts'
import { createFinder } from '../platform/network/networks.ts'
import {
  checkTarget,
  checkTerms,
  describeTarget,
  type AlertAttempt,
  type AlertRule,
  type AlertTarget,
  type AlertTerms,
} from './rule.ts'

export type { AlertAttempt, AlertRule } from './rule.ts'

/** What a new alert needs: when it is sent, and either an address for mail or a webhook. */
export interface NewAlert {
  /** Makes a repeated request safe; default: a new one. */
  readonly id?: string
  /** In per cent. */
  readonly shares: readonly number[]
  /** Whether the end of each batch is reported, to a webhook. Default: no. */
  readonly batches?: boolean | undefined
  readonly email?: string | undefined
  readonly webhook?: string | undefined
}

/**
 * Where alerts about accounts go. Every change is in the audit log with its actor. Every method throws Problem `not_found`
 * for an unknown id.
 */
export interface Alerts {
  /** In order of creation. */
  list(accountId: string): Promise<AlertRule[]>
  /**
   * `secret` signs the webhook, and no other method returns it. A repeated request with the same id gets the existing alert with
   * its secret. Throws Problem `invalid_field`, and `conflict` if the account has 20 alerts or if the id is that of another alert.
   */
  create(accountId: string, alert: NewAlert, by: Visit): Promise<{ rule: AlertRule; secret: string | null }>
  /** Replaces the shares, and `batches` if it is given. Throws Problem `invalid_field`. */
  change(
    accountId: string,
    id: string,
    terms: Pick<AlertTerms, 'shares'> & Partial<Pick<NewAlert, 'batches'>>,
    by: Visit,
  ): Promise<AlertRule>
  /** Alerts that are waiting to be sent are dropped. */
  remove(accountId: string, id: string, by: Visit): Promise<void>
  /** Sends a test in the background. */
  test(accountId: string, id: string, by: Visit): Promise<void>
  /** Newest first. */
  attempts(accountId: string): Promise<AlertAttempt[]>
}

interface AlertNeeds {
  readonly database: Database
  readonly accounts: Pick<Accounts, 'show'>
  readonly encryption: Encryption
  readonly hasMail: boolean
  readonly allowedNetworks: readonly string[]
}

const mostRules = 20
const attemptsShown = 100

export function createAlerts({ database, accounts, encryption, hasMail, allowedNetworks }: AlertNeeds): Alerts {
  const find = createFinder(allowedNetworks)

  /** The result of an earlier request with the same id, whose response may have been lost. */
  function createdBefore(earlier: store.StoredRule | undefined, asked: Omit<AlertRule, 'createdAt'>) {
    if (earlier === undefined) {
      throw new Problem('conflict', `An account can have ${mostRules} alerts. Remove one first.`)
    }
    const { secret, removedAt, ...rule } = earlier
    if (removedAt !== null) throw new Problem('conflict', 'This alert was created, but has since been removed.')
    if (!isDeepStrictEqual({ ...rule, createdAt: null }, { ...asked, createdAt: null })) {
      throw new Problem(
        'conflict',
        `An earlier request with this Idempotency-Key has created another alert, to ${rule.email ?? rule.webhook}. Nothing was created now.`,
      )
    }
    const issued = secret === null ? null : encryption.decrypt(secret, secretContext(rule.id))
    if (issued === undefined) throw new Error('the secret of an alert cannot be decrypted')
    return { rule, secret: issued }
  }

  return Object.freeze<Alerts>({
    async list(accountId) {
      await accounts.show(accountId)
      return store.readRules(database, accountId)
    },
    async create(account: string, { id = randomUUIDv7(), shares, batches = false, ...alert }: NewAlert, by: Visit) {
      const { id: accountId } = await accounts.show(account)
      const target = await checkTarget(alert, hasMail, find)
      const secret = target.webhook === null ? null : newWebhookSecret()
      const sealed = secret === null ? null : encryption.encrypt(secret, secretContext(id))
      const asked = { id, accountId, shares: ascending(shares), batches, ...target }
      checkTerms(asked, target)
      return database.transaction(async (tx) => {
        await store.lockRulesOf(tx, accountId)
        const isFull = (await store.readRules(tx, accountId)).length >= mostRules
        const rule = isFull ? undefined : await store.insertRule(tx, { ...asked, secret: sealed })
        if (rule === undefined) {
          const before = createdBefore(await store.readRule(tx, accountId, id), asked)
          if (before.secret !== null) await record(tx, by, 'shown', before.rule)
          return before
        }
        await record(tx, by, 'created', rule, { shares: termsText(rule) })
        return { rule, secret }
      })
    },
    change: (accountId, id, { shares, batches }, by) =>
      database.transaction(async (tx) => {
        const known = isUuid(id) && isUuid(accountId)
        const before = known ? await store.lockRule(tx, accountId, id) : undefined
        if (before === undefined) throw noAlert(id)
        const changed = { ...before, shares: ascending(shares), batches: batches ?? before.batches }
        checkTerms(changed, changed)
        await store.updateTerms(tx, id, changed)
        await record(tx, by, 'changed', changed, { from: termsText(before), to: termsText(changed) })
        return changed
      }),
    remove: (accountId, id, by) =>
      database.transaction(async (tx) => {
        const removed = isUuid(id) && isUuid(accountId) ? await store.removeRule(tx, accountId, id) : undefined
        if (removed === undefined) throw noAlert(id)
        await record(tx, by, 'removed', removed)
      }),
    test: (accountId, id, by) =>
      database.transaction(async (tx) => {
        const known = isUuid(id) && isUuid(accountId) && (await store.insertTest(tx, accountId, id))
        if (!known) throw noAlert(id)
        await record(tx, by, 'tested', { accountId, email: null, webhook: null })
      }),
    async attempts(accountId) {
      await accounts.show(accountId)
      return store.readAttempts(database, accountId, attemptsShown)
    },
  })
}

/** For the audit log: `50, 80, batches`. */
const termsText = ({ shares, batches }: AlertTerms): string => [...shares, ...(batches ? ['batches'] : [])].join(', ')

const ascending = (shares: readonly number[]) => [...new Set(shares)].toSorted((a, b) => a - b)

const noAlert = (id: string) => new Problem('not_found', `This account has no alert with the id ${id}.`)

function record(
  tx: Queryable,
  by: Visit,
  did: string,
  rule: { readonly accountId: string } & AlertTarget,
  details: Readonly<Record<string, string>> = {},
): Promise<void> {
  return recordWithin(tx, [
    {
      ...by,
      action: `account_alert_${did}`,
      outcome: 'allowed',
      noun: 'account',
      nounId: rule.accountId,
      details: { ...describeTarget(rule), ...details },
    },
  ])
}

/** 256 bits, as the text that the receiver of a webhook stores. */
const newWebhookSecret = (): string => randomBytes(32).toString('base64url')

/** Binds an encrypted secret to its rule. */
export const secretContext = (ruleId: string): string => `alert ${ruleId}`
