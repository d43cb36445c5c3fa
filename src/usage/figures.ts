import { formatMoney } from '../billing/prices/money.ts'
import type { Queryable } from '../platform/database/database.ts'
import {
  readFigures,
  readReasons,
  readRefusals,
  type Dimension,
  type FigureFilter,
  type FigureGroup,
  type FigureRow,
  type FigureSums,
} from './figures-store.ts'

export type { Dimension, FigureFilter, FigureGroup } from './figures-store.ts'

/** The figures of a group of requests, as all reports send them. */
export interface PresentedFigures {
  readonly requests: number
  readonly input_tokens: number
  readonly output_tokens: number
  /** Those of the input tokens that an upstream read from its cache. */
  readonly cached_tokens: number
  /** Those of them that it wrote to its cache. */
  readonly cache_write_tokens: number
  /** A decimal in the currency of the firm. */
  readonly cost: string
  /** Requests that were refused or failed. They are none of `requests`, and cost nothing. */
  readonly refused: number
}

/** The sums of one group of requests, and how many others were refused. */
export interface Figures extends FigureSums {
  readonly refused: bigint
}

export type GroupedFigures = { readonly group: FigureGroup } & Figures

export const noFigures: Figures = {
  requests: 0n,
  inputTokens: 0n,
  cachedTokens: 0n,
  cacheWriteTokens: 0n,
  outputTokens: 0n,
  cost: 0n,
  refused: 0n,
}

/** The groups with usage or refusals, most expensive first. Returns undefined if there are more than `most`. */
export async function groupFigures(
  database: Queryable,
  filter: FigureFilter,
  by: readonly Dimension[],
  most: number,
): Promise<GroupedFigures[] | undefined> {
  const [used, refused] = await Promise.all([
    readFigures(database, filter, by, most + 1),
    readRefusals(database, filter, by, most + 1),
  ])
  const groups = new Map<string, GroupedFigures>()
  for (const row of used) {
    const grouped = groupedOf(row)
    groups.set(idOf(grouped.group), grouped)
  }
  for (const { refused: count, ...group } of refused) {
    const id = idOf(group)
    groups.set(id, { ...(groups.get(id) ?? { group, ...noFigures }), refused: count })
  }
  return groups.size > most ? undefined : [...groups.values()]
}

/** A row without refusals, its group apart. */
export function groupedOf(row: FigureRow): GroupedFigures {
  const { requests, inputTokens, cachedTokens, cacheWriteTokens, outputTokens, cost, ...group } = row
  return { group, requests, inputTokens, cachedTokens, cacheWriteTokens, outputTokens, cost, refused: 0n }
}

/** The sums over everything that the filter selects. */
export async function totalFigures(database: Queryable, filter: FigureFilter): Promise<Figures> {
  const [total] = (await groupFigures(database, filter, [], 1)) ?? []
  return total ?? { ...noFigures }
}

/** How many requests were refused for each reason. */
export async function refusalReasons(database: Queryable, filter: FigureFilter) {
  const reasons = await readReasons(database, filter)
  return reasons.map(({ code, refused }) => ({ code, requests: Number(refused) }))
}

export function presentFigures(figures: Figures): PresentedFigures {
  return {
    requests: Number(figures.requests),
    input_tokens: Number(figures.inputTokens),
    output_tokens: Number(figures.outputTokens),
    cost: formatMoney(figures.cost),
    refused: Number(figures.refused),
    cached_tokens: Number(figures.cachedTokens),
    cache_write_tokens: Number(figures.cacheWriteTokens),
  }
}

const idOf = ({ day, model, keyId, personId, clientId, accountId }: FigureGroup): string =>
  [day, model, keyId, personId, clientId, accountId].join('/')
