import { createUsage, type TagUsage } from '../../billing/reports/usage.ts'
import { formatMoney } from '../../billing/prices/money.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { groupFigures, noFigures, presentFigures, refusalReasons, totalFigures } from '../figures.ts'
import { mostRows, tooManyRows } from '../grouping.ts'
import type { OwnUsageReport, OwnUsageRow } from './schema.ts'
import type { DaySpan } from '../span.ts'

interface TagReportNeeds {
  readonly accountId: string
  readonly span: DaySpan
  readonly by: string
  /** Only tags with this name. Default: every tag. */
  readonly name: string | undefined
  readonly currency: string
}

/** The report of an account by tag. Throws Problem `invalid_field`. */
export async function reportTags(
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

export const tagWithoutBy = (): Problem =>
  new Problem('invalid_field', 'The field tag names which tags to group by: send it with by=tag.', { field: 'tag' })
