import type { Queryable } from '../../platform/database/database.ts'
import { foldCharges } from '../appended-charges.ts'
import { readUsageByAccount, readUsageByModel, type UsageSpan } from './store.ts'
import { readTagSums, type TagSelection } from './tags-store.ts'

export type { UsageSpan }

/** What an account used over a span of days. `cost` is in 10⁻¹² of the currency unit. */
export interface UsageTotal {
  readonly requests: number
  /** Input tokens of all three kinds. */
  readonly inputTokens: number
  /** Those of them that the upstream read from its cache. */
  readonly cachedTokens: number
  /** Those of them that the upstream wrote to its cache. */
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly cost: bigint
}

export interface ModelUsage extends UsageTotal {
  readonly model: string
}

export interface AccountUsage extends UsageTotal {
  readonly accountId: string
}

/** The requests with one tag; null: those without any that was selected. */
export interface TagUsage extends UsageTotal {
  /** Only if each day is summed apart. */
  readonly day?: string | undefined
  readonly tag: { readonly name: string; readonly value: string } | null
}

export interface UsageReport {
  /** The sum over all models of an account, exact. */
  total(span: UsageSpan & { readonly accountId: string }): Promise<UsageTotal>
  /** An account's usage by model, most expensive first. */
  byModel(span: UsageSpan & { readonly accountId: string }): Promise<ModelUsage[]>
  /** Every account with usage, most expensive first. */
  byAccount(span: UsageSpan): Promise<AccountUsage[]>
  /**
   * Usage by tag, at most `most` rows, the most expensive first. A request with several tags is in the row of each, so that only
   * the rows of one name add up to the total.
   */
  byTag(selection: TagSelection): Promise<TagUsage[]>
}

/** Reports from the daily roll-up, so their cost does not grow with the ledger. Throws Problem `unavailable`. */
export function createUsage({ database }: { database: Queryable }): UsageReport {
  const byModel = async (span: UsageSpan & { readonly accountId: string }) => {
    await foldCharges(database)
    return (await readUsageByModel(database, span)).map(withNumbers)
  }
  return Object.freeze<UsageReport>({
    byModel,
    async byAccount(span) {
      await foldCharges(database)
      return (await readUsageByAccount(database, span)).map(withNumbers)
    },
    async byTag(selection) {
      await foldCharges(database)
      return (await readTagSums(database, selection)).map(({ day, name, value, ...sums }) => ({
        ...(day !== null && { day }),
        tag: name === null || value === null ? null : { name, value },
        ...withNumbers(sums),
      }))
    },
    total: async (span) => sumOf(await byModel(span)),
  })
}

export function sumOf(usages: readonly UsageTotal[]): UsageTotal {
  return usages.reduce<UsageTotal>(add, {
    requests: 0,
    inputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    cost: 0n,
  })
}

type Counts = Readonly<
  Record<'requests' | 'inputTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'outputTokens', bigint>
>

function withNumbers<Row extends Counts>(row: Row) {
  return {
    ...row,
    requests: Number(row.requests),
    inputTokens: Number(row.inputTokens),
    cachedTokens: Number(row.cachedTokens),
    cacheWriteTokens: Number(row.cacheWriteTokens),
    outputTokens: Number(row.outputTokens),
  }
}

function add(one: UsageTotal, other: UsageTotal): UsageTotal {
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost: one.cost + other.cost,
  }
}
