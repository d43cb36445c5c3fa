import { formatMoney } from '../billing/prices/money.ts'
import type { RankedFigures } from './breakdowns.ts'
import { presentFigures, type GroupedFigures } from './figures.ts'
import type { AccountLimits } from './store.ts'
import type { Names } from './names.ts'
import type { LoggedRequest } from './requests/request-log.ts'
import type { UsageBreakdown, UsageLimits, UsageRequest, UsageRow } from './schema.ts'

export function presentGroup(grouped: GroupedFigures, names: Names): UsageRow {
  const { day, model, keyId, personId, clientId, accountId } = grouped.group
  return {
    ...(day !== undefined && { day }),
    ...(model !== undefined && { model }),
    ...(keyId !== undefined && { key: names.orNull(keyId) }),
    ...(personId !== undefined && { person: names.orNull(personId) }),
    ...(clientId !== undefined && { client: names.orNull(clientId) }),
    ...(accountId !== undefined && { account: names.of(accountId) }),
    ...presentFigures(grouped),
  }
}

/** A breakdown with only the columns of its kind. */
export function presentBreakdown(
  { rows, others }: RankedFigures,
  names: Names,
  columns: readonly (keyof GroupedFigures['group'])[],
): UsageBreakdown {
  const own = rows.map(({ group, ...figures }) => ({
    group: Object.fromEntries(columns.map((column) => [column, group[column]])),
    ...figures,
  }))
  return { rows: own.map((each) => presentGroup(each, names)), others: others ? presentFigures(others) : null }
}

export function presentLimits(limits: AccountLimits): UsageLimits {
  const { id, name, status, monthlyLimit, monthCharged, credited, held, creditLeft, usedPercent } = limits
  return {
    account: { id, name },
    status,
    monthly_limit: monthlyLimit === null ? null : formatMoney(monthlyLimit),
    charged_this_month: formatMoney(monthCharged),
    credit_added: formatMoney(credited),
    held: formatMoney(held),
    available: formatMoney(creditLeft),
    used_percent: usedPercent,
    requests_per_minute: { limit: limits.requestsPerMinute, remaining: Number(limits.requestsLeft) },
    tokens_per_minute: { limit: limits.tokensPerMinute, remaining: Number(limits.tokensLeft) },
  }
}

export function presentRequest(request: LoggedRequest, names: Names, currency: string): UsageRequest {
  const { requestId, at, accountId, keyId, personId, clientId, model, code } = request
  return {
    request_id: requestId,
    at,
    account: names.of(accountId),
    key: names.orNull(keyId),
    person: names.orNull(personId),
    client: names.orNull(clientId),
    model,
    outcome: code === null ? 'charged' : 'refused',
    status: request.status,
    code,
    call: request.call,
    stop_reason: request.stopReason,
    input_tokens: request.inputTokens,
    output_tokens: request.outputTokens,
    cost: formatMoney(request.cost),
    milliseconds: request.milliseconds,
    usage_source: request.usageSource,
    tags: request.tags,
    currency,
  }
}
