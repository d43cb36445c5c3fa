import { Type } from 'typebox'
import { body, nullable } from '../platform/http/schema-parts.ts'

/** The JSON schemas of /accounts and /keys. Types, validation and the API document derive from them. */

const id = Type.String({ format: 'uuid', description: 'A UUIDv7 in lower case.' })
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })
const money = (description: string) => Type.String({ description })
const amount = (description: string) => Type.String({ maxLength: 60, description })
const line = (maxLength: number, description: string) =>
  Type.String({ format: 'line', minLength: 1, maxLength, description })
const text = (maxLength: number, description: string) => Type.String({ format: 'text', maxLength, description })
const perMinute = (description: string) => Type.Integer({ minimum: 1, maximum: 2_147_483_647, description })

const own = Type.Boolean({
  description: "Whether it is the firm's own: requests may then name the client that they are for.",
})

const limits = {
  requests_per_minute: perMinute('Maximum requests per minute.'),
  tokens_per_minute: perMinute('Maximum input and output tokens per minute.'),
}

export const newAccountBody = body({
  name: line(200, 'The name, unique regardless of case.'),
  credit: Type.Optional(amount('Credit paid in advance: `25.00`. Default 0.')),
  monthly_limit: Type.Optional(amount('Instead of credit: the maximum billed in arrears per calendar month (UTC).')),
  own: Type.Optional(own),
  requests_per_minute: Type.Optional(limits.requests_per_minute),
  tokens_per_minute: Type.Optional(limits.tokens_per_minute),
})

const billing = {
  billing_name: nullable(line(200, 'The name on invoices to the account. Null: the name of the account.')),
  billing_address: nullable(text(500, 'The postal address without the name: at most 8 lines.')),
  billing_tax_number: nullable(line(50, "The payer's tax number.")),
  billing_email: nullable(line(254, 'The email address that invoices are sent to.')),
}

export const accountChange = body({
  name: Type.Optional(line(200, 'The name, unique regardless of case.')),
  monthly_limit: Type.Optional(amount('The most per calendar month. A prepaid account with nothing unspent gets one.')),
  own: Type.Optional(own),
  requests_per_minute: Type.Optional(limits.requests_per_minute),
  tokens_per_minute: Type.Optional(limits.tokens_per_minute),
  billing_name: Type.Optional(billing.billing_name),
  billing_address: Type.Optional(billing.billing_address),
  billing_tax_number: Type.Optional(billing.billing_tax_number),
  billing_email: Type.Optional(billing.billing_email),
})
export type AccountChangeBody = Type.Static<typeof accountChange>

const grantedFields = {
  id,
  name: Type.String(),
  status: Type.Enum(['open', 'closed']),
  ...limits,
  monthly_limit: nullable(money('Null for a prepaid account.')),
  credit_left: money('The credit available to new requests.'),
  held: money('The maximum cost of requests in flight.'),
  credited: money('All credit ever added, minus withdrawals.'),
  charged: money('All charges ever.'),
  month_charged: money('The charges of this calendar month (UTC).'),
  currency: Type.String({ description: "The firm's currency (ISO 4217)." }),
  created_at: time,
  closed_at: nullable(time),
  last_used_at: nullable(Type.String({ format: 'date-time', description: 'When a key was last used, to the minute.' })),
}
const grantedAccountShown = Type.Object(grantedFields)
export type GrantedAccountShown = Type.Static<typeof grantedAccountShown>

export const accountShown = Type.Object({
  ...grantedFields,
  own,
  billing_name: nullable(
    Type.String({ description: 'The name on invoices to the account. Null: the name of the account.' }),
  ),
  billing_address: nullable(Type.String()),
  billing_tax_number: nullable(Type.String()),
  billing_email: nullable(Type.String({ description: 'Where invoices are sent.' })),
  version: Type.Integer({
    description: 'Changes with the name, `own`, the limits and the billing details. The ETag is this number in quotes.',
  }),
})
export type AccountShown = Type.Static<typeof accountShown>

const allAccounts = Type.Object({
  accounts: Type.Array(accountShown, { description: 'All accounts, by name.' }),
  defaults: Type.Object(limits, { description: 'The default limits of a new account.' }),
  currency: Type.String(),
})
export type AccountList = Type.Static<typeof allAccounts>

const grantedAccounts = Type.Object({
  accounts: Type.Array(grantedAccountShown, { description: 'The accounts that the developer was granted, by name.' }),
  currency: Type.String(),
})
export type GrantedAccountList = Type.Static<typeof grantedAccounts>

/** What a partner reads, or a developer. */
export const accountList = Type.Union([allAccounts, grantedAccounts])
export const accountRead = Type.Union([accountShown, grantedAccountShown])

export const creditBody = body({
  amount: amount('A decimal number, not 0. A negative one is withdrawn.'),
  note: Type.Optional(Type.String({ format: 'text', maxLength: 1000, description: 'The reason.' })),
})

export const creditQuery = body({
  before: Type.Optional(Type.String({ format: 'row-number', description: '`next` of the previous page.' })),
})

export const creditList = Type.Object({
  entries: Type.Array(Type.Object({ id, at: time, amount: money('Negative if withdrawn.'), note: Type.String() }), {
    description: 'At most 100, the newest first.',
  }),
  next: nullable(Type.String({ description: '`before` of the next page; null on the last.' })),
})
export type CreditList = Type.Static<typeof creditList>

const modelName = Type.String({ maxLength: 100, description: 'The id or an alias of a model.' })

const keyLimits = {
  requests_per_minute: Type.Optional(
    nullable(perMinute('Maximum requests per minute of this key. Null: only the account limit applies.')),
  ),
  tokens_per_minute: Type.Optional(
    nullable(perMinute('Maximum tokens per minute of this key. Null: only the account limit applies.')),
  ),
  daily_budget: Type.Optional(nullable(amount('Maximum spending of this key per day (UTC). Null: no budget.'))),
  monthly_budget: Type.Optional(
    nullable(amount('Maximum spending of this key per calendar month (UTC). Null: no budget.')),
  ),
}

export const keyLimitsBody = body(keyLimits)
export type KeyLimitsBody = Type.Static<typeof keyLimitsBody>

export const newKeyBody = body({
  name: line(200, 'The purpose of the key.'),
  allowed_models: Type.Optional(
    nullable(Type.Array(modelName, { maxItems: 1000, description: 'Default null: every model.' })),
  ),
  expires_at: Type.Optional(
    nullable(Type.String({ maxLength: 40, description: 'A date, or a date and time in UTC. Default null: never.' })),
  ),
  ...keyLimits,
})

export const rotationBody = body({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 31_536_000,
      description: 'How long the old key stays valid. Default 86400: a day.',
    }),
  ),
})

const keyFields = {
  id,
  public_id: Type.String({ description: 'The 12 characters after `tg_`.' }),
  name: Type.String(),
  account_id: nullable(id),
  person_id: nullable(
    Type.String({ format: 'uuid', description: 'The person whose scratch key it is; null for any other key.' }),
  ),
  allowed_models: nullable(Type.Array(Type.String())),
  status: Type.Enum(['valid', 'expired', 'revoked']),
  created_at: time,
  expires_at: nullable(time),
  revoked_at: nullable(time),
  replaced_by: nullable(id),
  last_used_at: nullable(Type.String({ format: 'date-time', description: 'To the minute.' })),
  requests_per_minute: nullable(Type.Integer({ description: 'Null: only the account limit applies.' })),
  tokens_per_minute: nullable(Type.Integer({ description: 'Null: only the account limit applies.' })),
  daily_budget: nullable(money('Maximum spending per day (UTC). Null: no budget.')),
  monthly_budget: nullable(money('Maximum spending per calendar month (UTC). Null: no budget.')),
  charged_today: nullable(
    money('Amount spent today (UTC). Null if the key has no limits of its own, like the next two.'),
  ),
  charged_this_month: nullable(money('Amount spent in this calendar month (UTC).')),
  held: nullable(money('The maximum cost of its requests in flight.')),
}

export const keyShown = Type.Object(keyFields)
export type KeyShown = Type.Static<typeof keyShown>

export const keyIssued = Type.Object({
  ...keyFields,
  key: Type.String({ description: 'The key itself. It is sent only once and never stored.' }),
})
export type KeyIssued = Type.Static<typeof keyIssued>

export const keyList = Type.Object({
  keys: Type.Array(keyShown, { description: 'In order of creation.' }),
  models: Type.Array(Type.Object({ name: Type.String(), alias_of: nullable(Type.String()) }), {
    description: 'The names that `allowed_models` may contain.',
  }),
  base_url: Type.String({ description: 'The address that callers use.' }),
})
export type KeyList = Type.Static<typeof keyList>
