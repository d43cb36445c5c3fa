import type { Queryable } from '../platform/database/database.ts'
import type { AlertAttempt, AlertRule, AlertTerms, DueAlert } from './rule.ts'

const fields = `id, account_id as "accountId", shares, exists (select from batch_alert where rule_id = alert_rule.id) as batches, email, webhook,
  created_at as "createdAt"`

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
  if (inserted === undefined) return undefined
  const { batches } = rule
  if (batches) await tx.rows('insert into batch_alert (rule_id) values ($1)', [rule.id])
  return { ...inserted, batches }
}

/** For a rule that lockRule() has found. */
export async function updateTerms(tx: Queryable, id: string, { shares, batches }: AlertTerms): Promise<void> {
  await tx.rows('update alert_rule set shares = $2 where id = $1', [id, shares])
  await tx.rows(
    batches
      ? 'insert into batch_alert (rule_id) values ($1) on conflict do nothing'
      : 'delete from batch_alert where rule_id = $1',
    [id],
  )
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
    `select attempt.id, attempt.at, alert.id as "alertId", email, webhook, share, budget, batch, outcome, error
     from alert_rule join alert on alert.rule_id = alert_rule.id join alert_attempt attempt on attempt.alert_id = alert.id
     where account_id = $1 order by attempt.at desc, attempt.id limit $2`,
    [accountId, most],
  )
}

/**
 * Adds an alert for each share of an account or a budget that was reached and not yet alerted in its period. Of several shares of one
 * rule, only the highest will be sent. Any instance may do this at any time.
 */
export async function addReached(database: Queryable): Promise<void> {
  await database.rows(`
    insert into alert (rule_id, period, share, used, of, budget_id, budget, ended)
    select rule_id, period, share, used, of, budget_id, budget, case when share < max(share) over (partition by rule_id, period) then 'passed' end
    from (
      select rule.id as rule_id, share, spent.* from account
      join alert_rule rule on rule.account_id = account.id and rule.removed_at is null
      cross join unnest(rule.shares) share
      cross join lateral (
        select 'credit ' || credited || ' after ' || charged_at_credit as period, charged - charged_at_credit as used,
          credited - charged_at_credit as of, null::uuid as budget_id, null::text as budget where monthly_limit is null
        union all
        select to_char(month, 'YYYY-MM') || ' limit ' || monthly_limit, month_charged, monthly_limit, null, null
        where month = date_trunc('month', now() at time zone 'UTC')::date and monthly_limit is not null
        union all
        select 'budget ' || b.id || ' from ' || extract(epoch from b.began_at) || ' limit ' || budget_limit(b, now()), b.charged,
          budget_limit(b, now())::amount, b.id, b.name
        from budget b where account.has_budgets and b.account_id = account.id and now() >= b.began_at and now() < b.ends_at
      ) spent
      where account.status = 'open' and spent.of > 0 and spent.used * 100 >= spent.of * share
    ) reached
    where not exists (
      select from alert where alert.rule_id = reached.rule_id and alert.period = reached.period
        and alert.share = reached.share)
    order by rule_id, period, share
    on conflict do nothing`)
}

/** Takes alerts that are due. One that is not finished within a minute is given to another instance. */
export function takeDue(database: Queryable, most: number): Promise<DueAlert[]> {
  return database.rows(
    `with due as (
       select id from alert where ended is null and next_at <= now() order by next_at limit $1 for update skip locked)
     update alert set tries = tries + 1, next_at = now() + interval '1 minute'
     from due, alert_rule rule, account
     where alert.id = due.id and rule.id = alert.rule_id and account.id = rule.account_id
     returning alert.id, rule.id as "ruleId", account.id as "accountId", account.name as "accountName", share, used, of,
       budget_id as "budgetId", budget, batch,
       alert.created_at as "createdAt", tries, email, webhook, secret`,
    [most],
  )
}

type Tried = Pick<AlertAttempt, 'outcome' | 'error'>

/** Records a try. One that failed is tried again after `pause` ms. False if another instance has ended the alert. */
export async function finishTry(tx: Queryable, id: string, { outcome, error }: Tried, pause: number): Promise<boolean> {
  const ended = { queued: 'sent', sent: 'sent', failed: null, given_up: 'given_up' }[outcome]
  const rows = await tx.rows(
    `update alert set ended = $2, next_at = now() + $3 * interval '1 ms' where id = $1 and ended is null returning 1`,
    [id, ended, pause],
  )
  if (rows.length === 0) return false
  await tx.rows('insert into alert_attempt (alert_id, outcome, error) values ($1, $2, $3)', [id, outcome, error])
  return true
}
