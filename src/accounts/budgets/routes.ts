import type { RecordAccess } from '../../access/access.ts'
import type { Audit } from '../../access/audit/audit.ts'
import { idempotencyKeyOf, newId } from '../../access/new-id.ts'
import { permitted, permittedOnAccount } from '../../access/permitted.ts'
import { may } from '../../access/policy.ts'
import { visitOf } from '../../access/visits.ts'
import type { Database } from '../../platform/database/database.ts'
import type { ExampleValues } from '../../platform/http/examples.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Sessions } from '../../signin/session/sessions.ts'
import { changeEvent } from '../events.ts'
import { amountIn, timeIn } from '../fields.ts'
import { grantedAccounts } from '../granted.ts'
import { presentBudget } from '../present.ts'
import type { Budgets } from './budgets.ts'
import * as operations from './operations.ts'

export interface BudgetRouteNeeds {
  readonly budgets: Budgets
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly access: Pick<RecordAccess, 'as'>
  readonly database: Database
  readonly baseUrl: string
  readonly timeZone: string
}

/** The budgets of an account, for partners. Developers see those of the accounts that they were granted. */
export function registerBudgets(server: Server, needs: BudgetRouteNeeds): void {
  const { budgets, audit, timeZone } = needs
  const granted = grantedAccounts(needs)
  const onRequest = permitted(needs, 'change', 'account')

  server.get(
    '/accounts/:account/budgets',
    { onRequest: permittedOnAccount(needs, 'read', 'account'), schema: operations.listBudgets },
    async (request, reply) => {
      const [visit, { account }] = [visitOf(request), request.params]
      const isGranted = !may(visit.actor, 'read', 'account')
      const all = await (isGranted ? granted.budgets(visit, account) : budgets.list(account))
      await audit.record(changeEvent(visit, 'account_budgets_listed', account))
      const data = { budgets: all.map(presentBudget), time_zones: [...new Set([timeZone, 'UTC'])] }
      return represent(reply, request, { data })
    },
  )

  server.post('/accounts/:account/budgets', { onRequest, schema: operations.createBudget }, async (request, reply) => {
    const [visit, { account: accountId }] = [visitOf(request), request.params]
    const { name, amount, period, time_zone: zone, hard = true, keys, tag } = request.body
    const id = newId(visit, `/accounts/${accountId}/budgets`, idempotencyKeyOf(request))
    const asked = { id, accountId, name, amount: amountIn(amount, 'amount'), period, timeZone: zone, hard, keys, tag }
    return reply.code(201).send(presentBudget(await budgets.create(asked, visit)))
  })

  server.patch(
    '/accounts/:account/budgets/:budget',
    { onRequest, schema: operations.changeBudget },
    async (request) => {
      const { amount: given, ...change } = request.body
      const amount = given === undefined ? undefined : amountIn(given, 'amount')
      return presentBudget(await budgets.change(which(request.params), { ...change, amount }, visitOf(request)))
    },
  )

  server.post(
    '/accounts/:account/budgets/:budget/raise',
    { onRequest, schema: operations.raiseBudget },
    async (request) => {
      const until = timeIn(request.body.until, 'until', 'The end of the raise') ?? undefined
      const raise = { by: amountIn(request.body.by, 'by'), until }
      return presentBudget(await budgets.raise(which(request.params), raise, visitOf(request)))
    },
  )

  server.delete(
    '/accounts/:account/budgets/:budget',
    { onRequest, schema: operations.removeBudget },
    async (request, reply) => {
      await budgets.remove(which(request.params), visitOf(request))
      return reply.code(204).send()
    },
  )
}

const which = ({ account: accountId, budget: id }: { readonly account: string; readonly budget: string }) => ({
  accountId,
  id,
})

const account = '0199c3b1-6d20-7f3e-a1c8-52e7d90b4f16'
const budget = '0199c3b6-0a5e-7b91-8c44-1d2f6e7a9b30'

/** A budget of two keys, for the documentation. */
export const budgetExamples = {
  Budgets: {
    account,
    account_id: account,
    budget,
    id: budget,
    name: 'Team Apollo',
    amount: '50',
    period: 'month',
    time_zone: 'Europe/Berlin',
    time_zones: ['Europe/Berlin', 'UTC'],
    hard: true,
    keys: ['0199c3b2-1f47-7c0a-93d5-0b6e84a2c719'],
    tag: null,
    raised_by: null,
    raised_until: null,
    limit: '50',
    charged: '12.5',
    held: '0.004',
    remaining: '37.496',
    renews_at: '2026-11-30T23:00:00.000Z',
    'createBudget.request': {
      name: 'Team Apollo',
      amount: '50.00',
      period: 'month',
      keys: ['0199c3b2-1f47-7c0a-93d5-0b6e84a2c719'],
    },
    'changeBudget.request': { amount: '60.00' },
    'changeBudget.response.amount': '60',
    'changeBudget.response.limit': '60',
    'changeBudget.response.remaining': '47.496',
    'raiseBudget.request': { by: '20.00' },
    'raiseBudget.response.raised_by': '20',
    'raiseBudget.response.raised_until': '2026-11-30T23:00:00.000Z',
    'raiseBudget.response.limit': '70',
    'raiseBudget.response.remaining': '57.496',
  },
} satisfies ExampleValues
