import type { Queryable } from '../platform/database/database.ts'
import type { AlertAttempt, AlertRule } from './rule.ts'

const fields = 'id, account_id as "accountId", shares, email, webhook, created_at as "createdAt"'

/** The rules of an account, in order of creation. */
export function readRules(database: Queryable, accountId: string): Promise<AlertRule[]> {
  return database.rows(
    `select ${fields} from alert_rule where account_id = $1 and removed_at is null order by created_at, id`,
    [accountId],
  )
}

/** A rule with its encrypted secret, also after its removal. */
export interface StoredRule extends AlertRule {
  readonly secret: Buffer | null
  readonly removedAt: Date | null
}

/** Undefined if the account never had such a rule. */
export async function readRule(tx: Queryable, accountId: string, id: string): Promise<StoredRule | undefined> {
  const [rule] = await tx.rows<StoredRule>(
    `select ${fields}, secret, removed_at as "removedAt" from alert_rule where id = $1 and account_id = $2`,
    [id, accountId],
  )
  return rule
}

/** Keeps others from adding rules to the account until the transaction ends. */
export async function lockRulesOf(tx: Queryable, accountId: string): Promise<void> {
  await tx.rows('select from account where id = $1 for no key update', [accountId])
}

/** Keeps others from changing the rule until the transaction ends. Undefined if there is no such rule. */
export async function lockRule(tx: Queryable, accountId: string, id: string): Promise<AlertRule | undefined> {
  const [rule] = await tx.rows<AlertRule>(
    `select ${fields} from alert_rule where id = $1 and account_id = $2 and removed_at is null for update`,
    [id, accountId],
  )
  return rule
}

/** Undefined if the id is taken. */
export async function insertRule(
  tx: Queryable,
  rule: Omit<AlertRule, 'createdAt'> & { readonly secret: Buffer | null },
): Promise<AlertRule | undefined> {
  const [inserted] = await tx.rows<AlertRule>(
    `insert into alert_rule (id, account_id, shares, email, webhook, secret) values ($1, $2, $3, $4, $5, $6)
     on conflict (id) do nothing returning ${fields}`,
    [rule.id, rule.accountId, rule.shares, rule.email, rule.webhook, rule.secret],
  )
  return inserted
}

/** Undefined if there is no such rule. */
export async function updateShares(
  tx: Queryable,
  accountId: string,
  id: string,
  shares: readonly number[],
): Promise<AlertRule | undefined> {
  const [updated] = await tx.rows<AlertRule>(
    `update alert_rule set shares = $3 where id = $1 and account_id = $2 and removed_at is null returning ${fields}`,
    [id, accountId, shares],
  )
  return updated
}

/** Undefined if there is no such rule. Alerts that are waiting to be sent are dropped. */
export async function removeRule(tx: Queryable, accountId: string, id: string): Promise<AlertRule | undefined> {
  const [removed] = await tx.rows<AlertRule>(
    `update alert_rule set removed_at = now() where id = $1 and account_id = $2 and removed_at is null
     returning ${fields}`,
    [id, accountId],
  )
  await tx.rows(`update alert set ended = 'given_up' where rule_id = $1 and ended is null`, [removed?.id ?? null])
  return removed
}

/** Adds a test, which is due at once. False if there is no such rule. */
export async function insertTest(tx: Queryable, accountId: string, id: string): Promise<boolean> {
  const rows = await tx.rows(
    `insert into alert (rule_id, period, used, of)
     select id, 'test ' || gen_random_uuid(), 0, 0 from alert_rule
     where id = $1 and account_id = $2 and removed_at is null returning 1`,
    [id, accountId],
  )
  return rows.length > 0
}

/** Newest first. */
export function readAttempts(database: Queryable, accountId: string, most: number): Promise<AlertAttempt[]> {
  return database.rows(
    `select attempt.id, attempt.at, alert.id as "alertId", email, webhook, share, outcome, error
     from alert_rule join alert on alert.rule_id = alert_rule.id join alert_attempt attempt on attempt.alert_id = alert.id
     where account_id = $1 order by attempt.at desc, attempt.id limit $2`,
    [accountId, most],
  )
}
