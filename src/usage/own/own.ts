import { createAccounts } from '../../accounts/accounts.ts'
import type { Budget } from '../../accounts/budgets/budgets.ts'
import { findOwnBudgets, leftOf, renewsIn } from '../../accounts/budgets/known-budgets.ts'
import { foldCharges } from '../../billing/appended-charges.ts'
import { formatMoney } from '../../billing/prices/money.ts'
import { findKeyStanding, type KeyBudget } from '../../billing/key-standing.ts'
import type { Levels } from '../../billing/till/till.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import { compileBody } from '../../platform/http/input/validation.ts'
import { groupFigures, noFigures, presentFigures, refusalReasons, totalFigures } from '../figures.ts'
import { ownUsageQuery, type AccountFigures, type OwnRequest, type OwnUsageReport, type OwnUsageRow } from './schema.ts'
import { mostRows, tooManyRows } from '../queries.ts'
import { readOwnRequest, reportGroups } from './account-view.ts'
import { spanOf, type DaySpan } from '../span.ts'
import { createUsage, type TagUsage } from '../../billing/reports/usage.ts'
import { Problem } from '../../platform/problems.ts'
import { createTurnstile, type Turnstile } from '../../platform/flow/turnstile.ts'

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
    await foldCharges(database)
    if (given.by?.split(',').includes('tag'))
      return reportTags(database, { accountId, span, by: given.by, name: given.tag, currency })
    if (given.tag !== undefined) throw tagWithoutBy()
    return reportGroups(database, { accountId, span, by: given.by, currency })
  }

  return Object.freeze<OwnUsage>({
    report: (accountId: string, query: unknown) => turns.run(accountId, () => makeReport(accountId, query)),

    async request(accountId, id) {
      return readOwnRequest(database, { accountId, id, currency })
    },

    async account({ accountId, keyId }, { requests, tokens }) {
      const { id, name, monthlyLimit, credited, charged, monthCharged, held, creditLeft } =
        await accounts.show(accountId)
      const key = await findKeyStanding(database, keyId)
      const budgets = await findOwnBudgets(database, { accountId, keyId })
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
        budgets: budgets.map(presentShared),
      }
    },
  })
}

const presentBudget = (budget: KeyBudget | undefined) =>
  budget
    ? {
        limit: formatMoney(budget.limit),
        spent: formatMoney(budget.charged),
        remaining: formatMoney(budget.left),
        renews_in_seconds: budget.renewsInSeconds,
      }
    : null

function presentShared(budget: Budget) {
  const { name, tag, period, timeZone, hard, limit, charged } = budget
  return {
    name,
    tag,
    period,
    time_zone: timeZone,
    hard,
    limit: formatMoney(limit),
    spent: formatMoney(charged),
    remaining: formatMoney(leftOf(budget)),
    renews_in_seconds: renewsIn(budget),
  }
}

const presentLevel = ({ limit, remaining, resetSeconds }: Levels['requests']) => ({
  limit,
  remaining,
  reset_seconds: resetSeconds,
})

interface TagReportNeeds {
  readonly accountId: string
  readonly span: DaySpan
  readonly by: string
  /** Only tags with this name. Default: every tag. */
  readonly name: string | undefined
  readonly currency: string
}

/** The report of an account by tag. Throws Problem `invalid_field`. */
async function reportTags(
  database: Queryable,
  { accountId, span, by, name, currency }: TagReportNeeds,
): Promise<OwnUsageReport> {
  const byDay = isByDay(by)
  const filter = { ...span, accountId }
  const [tagged, refused, total, refusals] = await Promise.all([
    createUsage({ database }).byTag({ ...filter, name, byDay, most: mostRows + 1 }),
    groupFigures(database, filter, byDay ? ['day'] : [], mostRows),
    totalFigures(database, filter),
    refusalReasons(database, filter),
  ])
  if (tagged.length > mostRows) throw tooManyRows()
  // Refused requests have no tags: they are counted with the requests that have none.
  const refusedOn = new Map(refused?.map(({ group, refused: count }) => [group.day, Number(count)]))
  const rows = tagged.map((row) => presentTagRow(row, row.tag === null ? (refusedOn.get(row.day) ?? 0) : 0))
  for (const { day, tag } of tagged) if (tag === null) refusedOn.delete(day)
  for (const [day, count] of refusedOn) {
    if (count > 0)
      rows.push({ ...(day !== undefined && { day }), tag: null, ...presentFigures(noFigures), refused: count })
  }
  return { ...span, currency, total: presentFigures(total), rows, refusals }
}

function isByDay(by: string): boolean {
  const named = by.split(',')
  if (named.every((each) => each === 'day' || each === 'tag')) return named.includes('day')
  throw new Problem('invalid_field', 'The field by can combine tag only with day.', { field: 'by' })
}

function presentTagRow({ day, tag, ...usage }: TagUsage, refused: number): OwnUsageRow {
  return {
    ...(day !== undefined && { day }),
    tag,
    requests: usage.requests,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost: formatMoney(usage.cost),
    refused,
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  }
}

const tagWithoutBy = (): Problem =>
  new Problem('invalid_field', 'The field tag names which tags to group by: send it with by=tag.', { field: 'tag' })

/** Reports at a time; and reports of one account that run or wait. */
const most = { running: 2, ofAccount: 100 }

/**
 * Runs the reports of accounts a few at a time, and one at a time of each account. A report can read much, is free and takes
 * nothing from the limits, and the lookups of all keys use the same connections.
 */
interface ReportTurns {
  /** Throws Problem `unavailable` if too many reports of the account wait. */
  run<Report>(accountId: string, make: () => Promise<Report>): Promise<Report>
}

function createReportTurns(): ReportTurns {
  const all = createTurnstile(most.running)
  const accounts = new Map<string, { readonly turns: Turnstile; reports: number }>()

  return Object.freeze({
    async run<Report>(accountId: string, make: () => Promise<Report>) {
      const own = accounts.get(accountId) ?? { turns: createTurnstile(1), reports: 0 }
      if (own.reports >= most.ofAccount) throw tooMany()
      accounts.set(accountId, own)
      own.reports++
      try {
        return await own.turns.run(() => all.run(make))
      } finally {
        own.reports--
        if (own.reports === 0) accounts.delete(accountId)
      }
    },
  })
}

const tooMany = (): Problem =>
  new Problem('unavailable', 'Too many usage reports for this account are in progress. Send the request again later.', {
    retryAfter: 5,
  })
