import * as operations from './operations.ts'
import type { FastifyReply } from 'fastify'
import type { Audit } from '../access/audit/audit.ts'
import { idempotencyKeyOf, newId } from '../access/new-id.ts'
import type { RecordAccess } from '../access/access.ts'
import { permitted, permittedOnAccount, permittedOnSome } from '../access/permitted.ts'
import { may, type Action } from '../access/policy.ts'
import { visitOf } from '../access/visits.ts'
import type { Database } from '../platform/database/database.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Server } from '../platform/http/server.ts'
import type { Guard } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import type { Account, BillingChange, GrantedAccount } from './account.ts'
import type { Accounts } from './accounts.ts'
import { changeEvent } from './events.ts'
import { amountIn } from './fields.ts'
import { registerKeys, type ModelName } from './keys/routes.ts'
import type { Keys } from './keys/keys.ts'
import { grantedAccounts } from './granted.ts'
import { presentAccount, presentCredit, presentGranted } from './present.ts'
import type { AccountChangeBody, AccountShown } from './schema.ts'
import { checkSettings } from './version.ts'
import type { ExampleValues } from '../platform/http/examples.ts'

/** The default limits of a new account. */
export interface DefaultLimits {
  readonly requests_per_minute: number
  readonly tokens_per_minute: number
}

export interface AccountRouteNeeds {
  readonly accounts: Accounts
  readonly keys: Keys
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly access: Pick<RecordAccess, 'as'>
  readonly database: Database
  readonly baseUrl: string
  readonly currency: string
  readonly defaultLimits: DefaultLimits
  /** The names of models by which a key may be limited. */
  readonly modelNames: () => readonly ModelName[]
}

type Allowed = (action: Action) => Guard[]

/** /accounts and /keys, for partners; reads also for developers who were granted the account. */
export function registerAccounts(server: Server, needs: AccountRouteNeeds): void {
  const allowed: Allowed = (action) => permitted(needs, action, 'account')
  registerReads(server, needs)
  registerChanges(server, needs, allowed)
  registerCredit(server, needs, allowed)
  registerKeys(server, needs)
}

function registerReads(server: Server, needs: AccountRouteNeeds): void {
  const { accounts, audit, currency, defaultLimits } = needs
  const granted = grantedAccounts(needs)

  server.get(
    '/accounts',
    { onRequest: permittedOnSome(needs, 'list', 'account'), schema: operations.listAccounts },
    async (request, reply) => {
      const visit = visitOf(request)
      const listed = audit.record({ ...visit, action: 'accounts_listed', outcome: 'allowed', noun: 'account' })
      if (!may(visit.actor, 'list', 'account')) {
        const [own] = await Promise.all([granted.list(visit), listed])
        const shown = own.toSorted(byName).map((account) => presentGranted(account, currency))
        return represent(reply, request, { data: { accounts: shown, currency } })
      }
      const [all] = await Promise.all([accounts.list(), listed])
      const shown = all.toSorted(byName).map((account) => presentAccount(account, currency))
      return represent(reply, request, { data: { accounts: shown, defaults: defaultLimits, currency } })
    },
  )

  server.get(
    '/accounts/:account',
    { onRequest: permittedOnAccount(needs, 'read', 'account'), schema: operations.readAccount },
    async (request, reply) => {
      const [visit, { account: id }] = [visitOf(request), request.params]
      if (!may(visit.actor, 'read', 'account')) {
        const account = await granted.show(visit, id)
        await audit.record(changeEvent(visit, 'account_read', account.id))
        return represent(reply, request, { data: presentGranted(account, currency) })
      }
      const account = await accounts.show(id)
      await audit.record(changeEvent(visit, 'account_read', account.id))
      const data = presentAccount(account, currency)
      return represent(reply, request, { data, headers: { etag: etagOf(data) } })
    },
  )
}

function registerChanges(server: Server, needs: AccountRouteNeeds, allowed: Allowed): void {
  const { accounts, currency, defaultLimits } = needs

  server.post(
    '/accounts',
    { onRequest: allowed('create'), schema: operations.createAccount },
    async (request, reply) => {
      const { name, own, credit, monthly_limit: limit, ...given } = request.body
      const limits = { ...defaultLimits, ...given }
      const visit = visitOf(request)
      const account = await accounts.create(
        {
          name,
          own,
          requestsPerMinute: limits.requests_per_minute,
          tokensPerMinute: limits.tokens_per_minute,
          credit: credit === undefined ? undefined : amountIn(credit, 'credit'),
          monthlyLimit: limit === undefined ? undefined : amountIn(limit, 'monthly_limit'),
        },
        visit,
        newId(visit, '/accounts', idempotencyKeyOf(request)),
      )
      reply.code(201).header('location', `/accounts/${account.id}`)
      return tagged(reply, account, currency)
    },
  )

  server.patch(
    '/accounts/:account',
    { onRequest: allowed('change'), schema: operations.changeAccount },
    async (request, reply) => {
      const { name, own, monthly_limit: limit, requests_per_minute: rpm, tokens_per_minute: tpm } = request.body
      const to = {
        name,
        own,
        requestsPerMinute: rpm,
        tokensPerMinute: tpm,
        monthlyLimit: limit === undefined ? undefined : amountIn(limit, 'monthly_limit'),
        billing: billingIn(request.body),
      }
      const account = await accounts.change(request.params.account, to, visitOf(request), (before) => {
        const current = presentAccount(before, currency)
        checkSettings(request.headers['if-match'], current)
      })
      return tagged(reply, account, currency)
    },
  )

  server.post(
    '/accounts/:account/close',
    { onRequest: allowed('change'), schema: operations.closeAccount },
    async (request, reply) => tagged(reply, await accounts.close(request.params.account, visitOf(request)), currency),
  )
}

function billingIn(body: AccountChangeBody): BillingChange {
  const { billing_name: name, billing_address: address, billing_tax_number: taxNumber, billing_email: email } = body
  return { name, address, taxNumber, email }
}

const creditPage = 100

function registerCredit(server: Server, needs: AccountRouteNeeds, allowed: Allowed): void {
  const { accounts, audit, currency } = needs

  server.get(
    '/accounts/:account/credit',
    { onRequest: allowed('read'), schema: operations.listCredit },
    async (request, reply) => {
      const { account } = request.params
      const { before } = request.query
      const found = await accounts.listCredit(account, {
        limit: creditPage + 1,
        ...(before !== undefined && { before: BigInt(before) }),
      })
      await audit.record(changeEvent(visitOf(request), 'account_credit_listed', account))
      const entries = found.slice(0, creditPage)
      const next = found.length > creditPage ? String(entries.at(-1)?.number) : null
      return represent(reply, request, { data: { entries: entries.map(presentCredit), next } })
    },
  )

  server.post(
    '/accounts/:account/credit',
    { onRequest: allowed('change'), schema: operations.addCredit },
    async (request, reply) => {
      const { account: id } = request.params
      const { amount, note = '' } = request.body
      const visit = visitOf(request)
      const entryId = newId(visit, `/accounts/${id}/credit`, idempotencyKeyOf(request))
      const account = await accounts.addCredit(id, amountIn(amount, 'amount'), visit, note, entryId)
      reply.code(201)
      return tagged(reply, account, currency)
    },
  )
}

function tagged(reply: FastifyReply, account: Account, currency: string): AccountShown {
  const shown = presentAccount(account, currency)
  reply.header('etag', etagOf(shown))
  return shown
}

const etagOf = ({ version }: AccountShown) => `"${version}"`

const byName = (a: GrantedAccount, b: GrantedAccount) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1)

const account = '0199c3b1-6d20-7f3e-a1c8-52e7d90b4f16'

/** An account with a key, for the documentation. */
export const accountExamples = {
  'Accounts and keys': {
    account,
    id: account,
    name: 'Acme',
    credit: '25.00',
    monthly_limit: null,
    credit_left: '24.1873',
    billing_name: 'Acme Ltd',
    billing_address: '7 Quay Street\nBristol',
    billing_tax_number: null,
    billing_email: 'billing@acme.example',
    held: '0',
    credited: '25',
    charged: '0.8127',
    month_charged: '0.8127',
    currency: 'GBP',
    closed_at: null,
    own: false,
    requests_per_minute: 60,
    tokens_per_minute: 100_000,
    'If-Match': '"1"',
    'createAccount.request': { name: 'Acme', credit: '25.00' },
    'changeAccount.request': { requests_per_minute: 120 },

    amount: '25.00',
    note: 'Invoice 2026-031',
    next: null,

    'keys.name': 'backend',
    'createKey.request': { name: 'backend', allowed_models: ['default'] },
    'createKey.response.name': 'backend',
    'rotateKey.response.name': 'backend',
    public_id: '4XkQ7mZp9RtB',
    person_id: null,
    allowed_models: ['default'],
    'rotateKey.key': '0199c3b2-1f47-7c0a-93d5-0b6e84a2c719',
    'revokeKey.key': '0199c3b2-1f47-7c0a-93d5-0b6e84a2c719',
    key: 'tg_4XkQ7mZp9RtB…',
    expires_at: null,
    revoked_at: null,
    replaced_by: null,
    overlap_seconds: 86_400,
    'limitKey.key': '0199c3b2-1f47-7c0a-93d5-0b6e84a2c719',
    'limitKey.request': { daily_budget: '5.00', requests_per_minute: null },
    daily_budget: '5',
    monthly_budget: null,
    charged_today: '0.8127',
    charged_this_month: '0.8127',
    'models.name': 'default',
    alias_of: 'tiny',
    base_url: 'https://tollgate.example.com',
  },
} satisfies ExampleValues
