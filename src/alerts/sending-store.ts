import type { Queryable } from '../platform/database/database.ts'
import type { AlertAttempt, DueAlert } from './rule.ts'

/**
 * Adds an alert for each share that was reached and not yet alerted in its period. Of several shares of one rule, only the
 * highest will be sent. Any instance may do this at any time.
 */
export async function addReached(database: Queryable): Promise<void> {
  await database.rows(`
    insert into alert (rule_id, period, share, used, of, ended)
    select rule_id, period, share, used, of, case when share < max(share) over (partition by rule_id) then 'passed' end
    from (
      select rule.id as rule_id, share, spent.* from account
      join alert_rule rule on rule.account_id = account.id and rule.removed_at is null
      cross join unnest(rule.shares) share
      cross join lateral (
        select 'credit ' || credited || ' after ' || charged_at_credit as period, charged - charged_at_credit as used,
          credited - charged_at_credit as of where monthly_limit is null
        union all
        select to_char(month, 'YYYY-MM') || ' limit ' || monthly_limit, month_charged, monthly_limit
        where month = date_trunc('month', now() at time zone 'UTC')::date and monthly_limit is not null
      ) spent
      where account.status = 'open' and spent.of > 0 and spent.used * 100 >= spent.of * share
    ) reached
    where not exists (
      select from alert where alert.rule_id = reached.rule_id and alert.period = reached.period
        and alert.share = reached.share)
    order by rule_id, share
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
