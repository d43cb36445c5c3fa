import * as operations from './operations.ts'
import type { Visit } from '../access/actor.ts'
import type { Audit, AuditEntry } from '../access/audit/audit.ts'
import { idempotencyKeyOf, newId } from '../access/new-id.ts'
import { permitted } from '../access/permitted.ts'
import type { Action } from '../access/policy.ts'
import { visitOf } from '../access/visits.ts'
import { shownBatchIds } from '../batches/ids.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Server } from '../platform/http/server.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import type { Alerts } from './alerts.ts'
import type { ExampleValues } from '../platform/http/examples.ts'
import type { AlertAttempt, AlertRule } from './rule.ts'
import type { AlertShown, AttemptList } from './schema.ts'

export interface AlertRouteNeeds {
  readonly alerts: Alerts
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** The alerts of an account, for partners. */
export function registerAlerts(server: Server, needs: AlertRouteNeeds): void {
  const { alerts, audit } = needs
  const allowed = (action: Action) => permitted(needs, action, 'account')

  server.get(
    '/accounts/:account/alerts',
    { onRequest: allowed('read'), schema: operations.listAlerts },
    async (request, reply) => {
      const { account } = request.params
      const rules = await alerts.list(account)
      await audit.record(readEvent(visitOf(request), 'account_alerts_listed', account))
      return represent(reply, request, { data: { alerts: rules.map(presentAlert) } })
    },
  )

  server.get(
    '/accounts/:account/alerts/attempts',
    { onRequest: allowed('read'), schema: operations.listAttempts },
    async (request, reply) => {
      const { account } = request.params
      const attempts = await alerts.attempts(account)
      await audit.record(readEvent(visitOf(request), 'account_alert_attempts_listed', account))
      return represent(reply, request, { data: { attempts: attempts.map(presentAttempt) } })
    },
  )

  server.post(
    '/accounts/:account/alerts',
    { onRequest: allowed('change'), schema: operations.createAlert },
    async (request, reply) => {
      const { account } = request.params
      const visit = visitOf(request)
      const id = newId(visit, `/accounts/${account}/alerts`, idempotencyKeyOf(request))
      const { rule, secret } = await alerts.create(account, { id, ...request.body }, visit)
      return reply.code(201).send({ ...presentAlert(rule), secret })
    },
  )

  server.patch(
    '/accounts/:account/alerts/:alert',
    { onRequest: allowed('change'), schema: operations.changeAlert },
    async (request, reply) => {
      const { account, alert } = request.params
      const rule = await alerts.change(account, alert, request.body, visitOf(request))
      return reply.send(presentAlert(rule))
    },
  )

  server.delete(
    '/accounts/:account/alerts/:alert',
    { onRequest: allowed('change'), schema: operations.removeAlert },
    async (request, reply) => {
      await alerts.remove(request.params.account, request.params.alert, visitOf(request))
      return reply.code(204).send()
    },
  )

  server.post(
    '/accounts/:account/alerts/:alert/test',
    { onRequest: allowed('change'), schema: operations.testAlert },
    async (request, reply) => {
      await alerts.test(request.params.account, request.params.alert, visitOf(request))
      return reply.code(204).send()
    },
  )
}

const readEvent = (by: Visit, action: string, account: string): AuditEntry => ({
  ...by,
  action,
  outcome: 'allowed',
  noun: 'account',
  nounId: account,
})

const alert = '0199c3b4-52d1-7e08-b6f3-7a91c05d2e84'

/** Alerts of an account, for the documentation. */
export const alertExamples = {
  Alerts: {
    account: '0199c3b1-6d20-7f3e-a1c8-52e7d90b4f16',
    alert,
    alert_id: alert,
    shares: [50, 80, 100],
    batches: true,
    email: null,
    webhook: 'https://hooks.example.com/tollgate',
    'createAlert.request': { shares: [50, 80, 100], batches: true, webhook: 'https://hooks.example.com/tollgate' },
    secret: 'wN3v0mZ2…',
    delivery: '5b0f5f0e-3a55-4c1e-9d0a-6b7a3f1d2c48',
    id: '9a1c7f7e-8d1e-4a63-8f5b-2c4d6e8f0a12',
    share: 80,
    budget: null,
    batch: null,
    outcome: 'failed',
    error: '500',
  },
} satisfies ExampleValues

function presentAlert({ id, shares, batches, email, webhook, createdAt }: AlertRule): AlertShown {
  return { alert_id: id, shares: [...shares], batches, email, webhook, created_at: createdAt.toISOString() }
}

function presentAttempt(attempt: AlertAttempt): AttemptList['attempts'][number] {
  const { id, at, alertId, email, webhook, share, budget, batch, outcome, error } = attempt
  const about = { share, budget, batch: batch && shownBatchIds[batch.dialect](batch.id) }
  return { id, at: at.toISOString(), delivery: alertId, email, webhook, ...about, outcome, error }
}
