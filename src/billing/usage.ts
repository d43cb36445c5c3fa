import type { Queryable } from '../platform/database/database.ts'

/** What an account used over a span of days. `cost` is in 10⁻¹² of the currency unit. */
export interface UsageTotal {
  readonly requests: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: bigint
}

export interface ModelUsage extends UsageTotal {
  readonly model: string
}

/** Days in UTC as `YYYY-MM-DD`, both included; left out, there is no bound. */
interface UsageSpan {
  readonly accountId: string
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export interface UsageReport {
  /** The sum over all models, exact. */
  total(span: UsageSpan): Promise<UsageTotal>
  /** By model, the dearest first. */
  byModel(span: UsageSpan): Promise<ModelUsage[]>
}

/** Reports from the daily roll-up, so that they take no longer as the ledger grows. Throws Problem `unavailable`. */
export function createUsage({ database }: { database: Queryable }): UsageReport {
  const byModel = async (span: UsageSpan) => (await readUsage(database, span)).map(fromRow)
  return Object.freeze({
    byModel,
    async total(span: UsageSpan) {
      const models = await byModel(span)
      return models.reduce<UsageTotal>(add, { requests: 0, inputTokens: 0, outputTokens: 0, cost: 0n })
    },
  })
}

interface UsageRow {
  readonly model: string
  readonly requests: bigint
  readonly inputTokens: bigint
  readonly outputTokens: bigint
  readonly cost: bigint
}

function readUsage(database: Queryable, { accountId, from, to }: UsageSpan): Promise<UsageRow[]> {
  return database.rows(
    `select model, sum(requests) as requests, sum(input_tokens) as "inputTokens",
       sum(output_tokens) as "outputTokens", sum(cost) as cost
     from usage_day
     where account_id = $1 and day >= coalesce($2::date, '-infinity') and day <= coalesce($3::date, 'infinity')
     group by model order by sum(cost) desc, model`,
    [accountId, from ?? null, to ?? null],
  )
}

function fromRow({ model, cost, ...counts }: UsageRow): ModelUsage {
  return {
    model,
    requests: Number(counts.requests),
    inputTokens: Number(counts.inputTokens),
    outputTokens: Number(counts.outputTokens),
    cost,
  }
}

function add(one: UsageTotal, other: UsageTotal): UsageTotal {
  return {
    requests: one.requests + other.requests,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost: one.cost + other.cost,
  }
}
