import { randomUUIDv7 } from 'node:crypto'
import type { Visit } from '../access/actor.ts'
import { recordWithin } from '../access/audit.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { isUuid } from '../platform/database/uuid.ts'
import type { Encryption } from '../platform/encryption.ts'
import { Problem } from '../platform/problems.ts'
import { createFinder } from './networks.ts'
import type { AlertAttempt, AlertRule } from './rule.ts'
import { newWebhookSecret, secretContext } from './secret.ts'
import * as store from './store.ts'
import { checkTarget, describeTarget, type AlertTarget } from './target.ts'

export type { AlertAttempt, AlertRule } from './rule.ts'

/** What a new alert needs: shares in per cent, and either an address for mail or a webhook. */
export interface NewAlert {
  readonly shares: readonly number[]
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
  /** `secret` signs the webhook, and is shown nowhere again. Throws Problem `invalid_field`. */
  create(accountId: string, alert: NewAlert, by: Visit): Promise<{ rule: AlertRule; secret: string | null }>
  /** Replaces the shares. */
  change(accountId: string, id: string, shares: readonly number[], by: Visit): Promise<AlertRule>
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

  return Object.freeze({
    async list(accountId: string) {
      await accounts.show(accountId)
      return store.readRules(database, accountId)
    },
    async create(accountId: string, alert: NewAlert, by: Visit) {
      await accounts.show(accountId)
      const target = await checkTarget(alert, hasMail, find)
      const id = randomUUIDv7()
      const secret = target.webhook === null ? null : newWebhookSecret()
      const sealed = secret === null ? null : encryption.encrypt(secret, secretContext(id))
      const shares = ascending(alert.shares)
      return database.transaction(async (tx) => {
        if ((await store.readRules(tx, accountId)).length >= mostRules) {
          throw new Problem('conflict', `An account can have ${mostRules} alerts. Remove one first.`)
        }
        const rule = await store.insertRule(tx, { id, accountId, shares, ...target, secret: sealed })
        if (rule === undefined) throw new Error('the alert was not inserted')
        await record(tx, by, 'created', rule)
        return { rule, secret }
      })
    },
    change: (accountId: string, id: string, shares: readonly number[], by: Visit) =>
      database.transaction(async (tx) => {
        const known = isUuid(id) && isUuid(accountId)
        const changed = known ? await store.updateShares(tx, accountId, id, ascending(shares)) : undefined
        if (changed === undefined) throw noAlert(id)
        await record(tx, by, 'changed', changed)
        return changed
      }),
    remove: (accountId: string, id: string, by: Visit) =>
      database.transaction(async (tx) => {
        const removed = isUuid(id) && isUuid(accountId) ? await store.removeRule(tx, accountId, id) : undefined
        if (removed === undefined) throw noAlert(id)
        await record(tx, by, 'removed', removed)
      }),
    test: (accountId: string, id: string, by: Visit) =>
      database.transaction(async (tx) => {
        const known = isUuid(id) && isUuid(accountId) && (await store.insertTest(tx, accountId, id))
        if (!known) throw noAlert(id)
        await record(tx, by, 'tested', { accountId, email: null, webhook: null })
      }),
    async attempts(accountId: string) {
      await accounts.show(accountId)
      return store.readAttempts(database, accountId, attemptsShown)
    },
  })
}

const ascending = (shares: readonly number[]) => [...new Set(shares)].toSorted((a, b) => a - b)

const noAlert = (id: string) => new Problem('not_found', `This account has no alert with the id ${id}.`)

function record(
  tx: Queryable,
  by: Visit,
  did: string,
  rule: { readonly accountId: string } & AlertTarget,
): Promise<void> {
  return recordWithin(tx, [
    {
      ...by,
      action: `account_alert_${did}`,
      outcome: 'allowed',
      noun: 'account',
      nounId: rule.accountId,
      details: describeTarget(rule),
    },
  ])
}
