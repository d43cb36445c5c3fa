import type { AlertAttempt, AlertRule } from './rule.ts'
import type { AlertShown, AttemptList } from './schema.ts'

export function presentAlert({ id, shares, email, webhook, createdAt }: AlertRule): AlertShown {
  return { alert_id: id, shares: [...shares], email, webhook, created_at: createdAt.toISOString() }
}

export function presentAttempt(attempt: AlertAttempt): AttemptList['attempts'][number] {
  const { id, at, alertId, email, webhook, share, outcome, error } = attempt
  return { id, at: at.toISOString(), delivery: alertId, email, webhook, share, outcome, error }
}
