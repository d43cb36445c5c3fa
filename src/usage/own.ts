import { createAccounts } from '../accounts/accounts.ts'
import { formatMoney } from '../billing/money.ts'
import type { Levels } from '../billing/till.ts'
import type { Database } from '../platform/database/database.ts'
import { compileBody } from '../platform/http/validation.ts'
import { groupFigures, presentFigures, refusalReasons, totalFigures, type GroupedFigures } from './figures.ts'
import { dimensionsOf, mostRows, tooManyRows } from './grouping.ts'
import { readNames } from './names-store.ts'
import { ownUsageQuery, type AccountFigures, type OwnUsageReport, type OwnUsageRow } from './own-schema.ts'
import { spanOf } from './span.ts'

/** What an account learns about itself. The figures equal its ledger at any moment. Both methods throw Problem. */
export interface OwnUsage {
  /** `query` is checked here. */
  report(accountId: string, query: unknown): Promise<OwnUsageReport>
  account(accountId: string, levels: Levels): Promise<AccountFigures>
}

const checkQuery = compileBody(ownUsageQuery)

export function createOwnUsage({ database, currency }: { database: Database; currency: string }): OwnUsage {
  const accounts = createAccounts({ database })
  return Object.freeze({
    async report(accountId: string, query: unknown) {
      const given = checkQuery(query)
      const by = dimensionsOf(given.by, ['day', 'model', 'key'])
      const span = spanOf(given)
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
    },

    async account(accountId: string, { requests, tokens }: Levels) {
      const { id, name, monthlyLimit, credited, charged, monthCharged, held, creditLeft } =
        await accounts.show(accountId)
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
      }
    },
  } satisfies OwnUsage)
}

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
