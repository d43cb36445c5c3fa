import type { Queryable } from '../platform/database/database.ts'
import { readBreakdowns, readRefusalBreakdowns, type Breakdown } from './store.ts'
import { groupedOf, noFigures, type FigureFilter, type Figures, type GroupedFigures } from './figures.ts'

/** The rows of one breakdown, most expensive first, and the sum of all that have no row of their own. */
export interface RankedFigures {
  readonly rows: readonly GroupedFigures[]
  readonly others: Figures | undefined
}

export interface Breakdowns extends Readonly<Record<Breakdown, RankedFigures>> {
  readonly total: Figures
}

/** At most `most` rows of each breakdown. */
export async function breakDown(database: Queryable, filter: FigureFilter, most: number): Promise<Breakdowns> {
  const [used, refused] = await Promise.all([
    readBreakdowns(database, filter, most),
    readRefusalBreakdowns(database, filter, most),
  ])
  const groupsOf = (set: Breakdown | 'total'): GroupedFigures[] => {
    const groups = new Map<string, GroupedFigures>()
    for (const { set: of, ...row } of used) {
      if (of !== set) continue
      const grouped = groupedOf(row)
      groups.set(idOf(grouped.group), grouped)
    }
    for (const { set: of, refused: count, ...group } of refused) {
      if (of !== set) continue
      const id = idOf(group)
      groups.set(id, { ...(groups.get(id) ?? { group, ...noFigures }), refused: count })
    }
    return [...groups.values()]
  }
  const [total = noFigures] = groupsOf('total')
  const ranked = (set: Breakdown | 'total'): RankedFigures => {
    const rows = groupsOf(set).slice(0, most)
    const others = rows.reduce(minus, total)
    return { rows, others: isNone(others) ? undefined : others }
  }
  return {
    total,
    model: ranked('model'),
    spender: ranked('spender'),
    client: ranked('client'),
    account: ranked('account'),
  }
}

const idOf = ({ model, keyId, personId, clientId, accountId }: GroupedFigures['group']): string =>
  [model, keyId, personId, clientId, accountId].join('/')

function minus(one: Figures, other: Figures): Figures {
  return {
    requests: one.requests - other.requests,
    inputTokens: one.inputTokens - other.inputTokens,
    cachedTokens: one.cachedTokens - other.cachedTokens,
    cacheWriteTokens: one.cacheWriteTokens - other.cacheWriteTokens,
    outputTokens: one.outputTokens - other.outputTokens,
    cost: one.cost - other.cost,
    refused: one.refused - other.refused,
  }
}

const isNone = ({ requests, refused }: Figures): boolean => requests === 0n && refused === 0n
