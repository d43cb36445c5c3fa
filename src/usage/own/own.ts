import { createAccounts } from '../../accounts/accounts.ts'
import { formatMoney } from '../../billing/prices/money.ts'
import { findKeyStanding, type Budget } from '../../billing/key-standing.ts'
import type { Levels } from '../../billing/till/till.ts'
import type { Database } from '../../platform/database/database.ts'
import { compileBody } from '../../platform/http/input/validation.ts'
import { groupFigures, presentFigures, refusalReasons, totalFigures, type GroupedFigures } from '../figures.ts'
import { dimensionsOf, mostRows, tooManyRows } from '../grouping.ts'
import { readNames } from '../names-store.ts'
import { ownUsageQuery, type AccountFigures, type OwnRequest, type OwnUsageReport, type OwnUsageRow } from './schema.ts'
import { reportTags, tagWithoutBy } from './tags.ts'
import { requestFilter } from '../queries.ts'
import { createReportTurns } from '../report-turns.ts'
import { readLog, type LoggedRequest } from '../requests/request-log.ts'
import { spanOf } from '../span.ts'

/** The calling key and its account. */
export interface OwnKey {
  readonly accountId: string
  readonly keyId: string
}

/** What an account learns about itself. The figures equal its ledger at any moment. Both methods throw Problem. */
export interface OwnUsage {
  /** `query` is checked here. */
  report(accountId: string, query: unknown): Promise<OwnUsageReport>
  /** One request of any key of the account. Undefined if it has none with this id, charged or refused and kept. */
  request(accountId: string, id: string): Promise<OwnRequest | undefined>
  /** `levels` are those of the account. */
  account(caller: OwnKey, levels: Levels): Promise<AccountFigures>
}

const checkQuery = compileBody(ownUsageQuery)

export function createOwnUsage({ database, currency }: { database: Database; currency: string }): OwnUsage {
  const accounts = createAccounts({ database })
  const turns = createReportTurns()

  async function makeReport(accountId: string, query: unknown): Promise<OwnUsageReport> {
    const given = checkQuery(query)
    const span = spanOf(given)
    if (given.by?.split(',').includes('tag'))
      return reportTags(database, { accountId, span, by: given.by, name: given.tag, currency })
    if (given.tag !== undefined) throw tagWithoutBy()
    const by = dimensionsOf(given.by, ['day', 'model', 'key'])
    const filter = { ...span, accountId }
    const [groups, total, refusals] = await Promise.all([
      groupFigures(database, filter, by, mostRows),
      totalFigures(database, filter),
      refusalReasons(database, filter),
    ])
    if (groups === undefined) throw tooManyRows()
    const names = await readNames(
      database,
      groups.flatMap(({ group }) => group.keyId ?? []),
    )
    const rows = groups.map((each) => presentRow(each, names))
    return { ...span, currency, total: presentFigures(total), rows, refusals }
  }

  return Object.freeze({
    report: (accountId: string, query: unknown) => turns.run(accountId, () => makeReport(accountId, query)),

    async request(accountId: string, id: string) {
      const { requests } = await readLog(database, { filter: { ...requestFilter(id), accountId }, limit: 1 })
      const [request] = requests
      if (request === undefined) return undefined
      const names = await readNames(database, request.keyId === null ? [] : [request.keyId])
      return presentOwnRequest(request, names, currency)
    },

    async account({ accountId, keyId }: OwnKey, { requests, tokens }: Levels) {
      const { id, name, monthlyLimit, credited, charged, monthCharged, held, creditLeft } =
        await accounts.show(accountId)
      const key = await findKeyStanding(database, keyId)
      return {
        id,
        name,
        currency,
        balance: monthlyLimit === null ? formatMoney(credited - charged) : null,
        monthly_limit: monthlyLimit === null ? null : formatMoney(monthlyLimit),
        charged_this_month: formatMoney(monthCharged),
        held: formatMoney(held),
        available: formatMoney(creditLeft),
        limits: { requests_per_minute: presentLevel(requests), tokens_per_minute: presentLevel(tokens) },
        key: {
          id: keyId,
          daily_budget: presentBudget(key?.daily),
          monthly_budget: presentBudget(key?.monthly),
          requests_per_minute: key?.requests ? presentLevel(key.requests) : null,
          tokens_per_minute: key?.tokens ? presentLevel(key.tokens) : null,
        },
      }
    },
  } satisfies OwnUsage)
}

/** Without tags and client: they may have text of a customer. */
function presentOwnRequest(request: LoggedRequest, names: ReadonlyMap<string, string>, currency: string): OwnRequest {
  const { requestId, at, keyId, model, status, code, call, milliseconds } = request
  return {
    request_id: requestId,
    at,
    key: keyId === null ? null : { id: keyId, name: names.get(keyId) ?? '' },
    model,
    outcome: code === null ? 'charged' : 'refused',
    status,
    code,
    call,
    stop_reason: request.stopReason,
    input_tokens: request.inputTokens,
    output_tokens: request.outputTokens,
    cost: formatMoney(request.cost),
    milliseconds,
    currency,
  }
}

const presentBudget = (budget: Budget | undefined) =>
  budget
    ? {
        limit: formatMoney(budget.limit),
        spent: formatMoney(budget.charged),
        remaining: formatMoney(budget.left),
        renews_in_seconds: budget.renewsInSeconds,
      }
    : null

function presentRow(grouped: GroupedFigures, names: ReadonlyMap<string, string>): OwnUsageRow {
  const { day, model, keyId } = grouped.group
  return {
    ...(day !== undefined && { day }),
    ...(model !== undefined && { model }),
    ...(keyId !== undefined && { key: keyId === null ? null : { id: keyId, name: names.get(keyId) ?? '' } }),
    ...presentFigures(grouped),
  }
}

const presentLevel = ({ limit, remaining, resetSeconds }: Levels['requests']) => ({
  limit,
  remaining,
  reset_seconds: resetSeconds,
})
