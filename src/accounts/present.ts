import { formatMoney } from '../billing/prices/money.ts'
import type { Account, CreditEntry, GrantedAccount } from './account.ts'
import { leftOf, type Budget } from './budgets/budget.ts'
import type { BudgetShown } from './budgets/schema.ts'
import type { AccountShown, CreditList, GrantedAccountShown, KeyShown } from './schema.ts'
import type { KeySummary } from './keys/store.ts'
import { settingsVersion } from './version.ts'

export function presentAccount(account: Account, currency: string): AccountShown {
  return {
    ...presentGranted(account, currency),
    own: account.own,
    billing_name: account.billing.name,
    billing_address: account.billing.address,
    billing_tax_number: account.billing.taxNumber,
    billing_email: account.billing.email,
    version: settingsVersion(account),
  }
}

export function presentGranted(account: GrantedAccount, currency: string): GrantedAccountShown {
  return {
    id: account.id,
    name: account.name,
    status: account.status,
    requests_per_minute: account.requestsPerMinute,
    tokens_per_minute: account.tokensPerMinute,
    monthly_limit: account.monthlyLimit === null ? null : formatMoney(account.monthlyLimit),
    credit_left: formatMoney(account.creditLeft),
    held: formatMoney(account.held),
    credited: formatMoney(account.credited),
    charged: formatMoney(account.charged),
    month_charged: formatMoney(account.monthCharged),
    currency,
    created_at: account.createdAt.toISOString(),
    closed_at: account.closedAt?.toISOString() ?? null,
    last_used_at: account.lastUsedAt?.toISOString() ?? null,
  }
}

export function presentCredit({ id, at, amount, note }: CreditEntry): CreditList['entries'][number] {
  return { id, at: at.toISOString(), amount: formatMoney(amount), note }
}

export function presentKey(key: KeySummary): KeyShown {
  return {
    id: key.id,
    public_id: key.publicId,
    name: key.name,
    account_id: key.accountId,
    person_id: key.personId,
    allowed_models: key.allowedModels && [...key.allowedModels],
    status: key.status,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    replaced_by: key.replacedBy,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    requests_per_minute: key.requestsPerMinute,
    tokens_per_minute: key.tokensPerMinute,
    daily_budget: moneyOrNull(key.dailyBudget),
    monthly_budget: moneyOrNull(key.monthlyBudget),
    charged_today: moneyOrNull(key.dayCharged),
    charged_this_month: moneyOrNull(key.monthCharged),
    held: moneyOrNull(key.limitHeld),
  }
}

export function presentBudget(budget: Budget): BudgetShown {
  const { id, accountId, name, keys, tag, period, timeZone, hard, amount, raise, limit, charged, held, renewsAt } =
    budget
  return {
    id,
    account_id: accountId,
    name,
    keys: keys && [...keys],
    tag,
    period,
    time_zone: timeZone,
    hard,
    amount: formatMoney(amount),
    raised_by: raise && formatMoney(raise.by),
    raised_until: raise && raise.until.toISOString(),
    limit: formatMoney(limit),
    charged: formatMoney(charged),
    held: formatMoney(held),
    remaining: formatMoney(leftOf(budget)),
    renews_at: renewsAt?.toISOString() ?? null,
    created_at: budget.createdAt.toISOString(),
  }
}

const moneyOrNull = (amount: bigint | null): string | null => (amount === null ? null : formatMoney(amount))
