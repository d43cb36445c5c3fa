import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { foldCharges } from '../billing/appended-charges.ts'
import type { Database } from '../platform/database/database.ts'
import { breakDown } from './breakdowns.ts'
import { usageFile } from './csv.ts'
import {
  groupFigures,
  presentFigures,
  refusalReasons,
  totalFigures,
  type Dimension,
  type FigureFilter,
} from './figures.ts'
import { readLimits } from './store.ts'
import { namesIn, type Names } from './names.ts'
import { presentBreakdown, presentGroup, presentLimits } from './present.ts'
import { dimensionsOf, mostRows, tooManyRows, usageFilterOf } from './queries.ts'
import type { UsagePageData, UsageQuery, UsageRow } from './schema.ts'
import { daysOf, previousSpan } from './span.ts'

/** The usage of the firm. Whether the visitor may see it is decided before. Both methods throw Problem. */
export interface FirmUsage {
  page(visit: Visit, query: UsageQuery): Promise<UsagePageData>
  /** All groups as CSV, in pieces. */
  csv(visit: Visit, query: UsageQuery): AsyncIterable<string>
}

export interface FirmNeeds {
  readonly database: Database
  readonly access: Pick<RecordAccess, 'as'>
  readonly currency: string
  readonly locale: string
}

const dimensions: readonly Dimension[] = ['day', 'model', 'key', 'client', 'account']
/** The rows of each breakdown, and of the limits. */
const mostRanked = 100

/** A key is shown with the person who spends in its place. */
const withPeople = (by: readonly Dimension[]): Dimension[] =>
  by.flatMap((dimension) => (dimension === 'key' ? ['key', 'person'] : [dimension]))

export function createFirmUsage(needs: FirmNeeds): FirmUsage {
  return Object.freeze<FirmUsage>({
    page: (visit, query) => readPage(needs, visit, query),
    csv(visit, { by, ...query }) {
      const filter = usageFilterOf(query)
      return usageFile(pieces(needs, visit, filter, dimensionsOf(by ?? dimensions.join(), dimensions)), needs)
    },
  })
}

async function readPage(needs: FirmNeeds, visit: Visit, query: UsageQuery): Promise<UsagePageData> {
  const { database, currency } = needs
  const filter = usageFilterOf(query)
  const by = dimensionsOf(query.by ?? 'day,model', dimensions)
  const before = previousSpan(filter)
  await foldCharges(database)
  const [broken, groups, previous, refusals, limits] = await Promise.all([
    breakDown(database, filter, mostRanked),
    groupFigures(database, filter, withPeople(by), mostRows),
    totalFigures(database, { ...filter, ...before }),
    refusalReasons(database, filter),
    readLimits(database, { accountId: filter.accountId, most: mostRanked }),
  ])
  if (groups === undefined) throw tooManyRows()
  const ranked = [broken.spender, broken.client, broken.account].flatMap(({ rows }) => rows)
  const names = await namesIn(needs, visit, [...[...ranked, ...groups].map(({ group }) => group), filter])
  return {
    from: filter.from,
    to: filter.to,
    currency,
    filter: presentFilter(filter, names),
    total: presentFigures(broken.total),
    previous: { ...before, ...presentFigures(previous) },
    rows: groups.map((each) => presentGroup(each, names)),
    models: presentBreakdown(broken.model, names, ['model']),
    keys: presentBreakdown(broken.spender, names, ['keyId', 'personId', 'accountId']),
    clients: presentBreakdown(broken.client, names, ['clientId']),
    accounts: presentBreakdown(broken.account, names, ['accountId']),
    refusals,
    limits: limits.map(presentLimits),
  }
}

function presentFilter({ accountId, keyId, model, clientId }: FigureFilter, { of }: Names): UsagePageData['filter'] {
  return {
    ...(accountId !== undefined && { account: of(accountId) }),
    ...(keyId !== undefined && { key: of(keyId) }),
    ...(model !== undefined && { model }),
    ...(clientId !== undefined && { client: of(clientId) }),
  }
}

/** The maximum number of groups of one day, or of a report without days. */
const mostAtOnce = 200_000
const perPiece = 1000

/** A report by day is read day by day, so that the size of the file does not matter. */
async function* pieces(
  needs: FirmNeeds,
  visit: Visit,
  filter: FigureFilter,
  by: readonly Dimension[],
): AsyncIterable<readonly UsageRow[]> {
  await foldCharges(needs.database)
  const spans = by.includes('day') ? daysOf(filter).map((day) => ({ from: day, to: day })) : [filter]
  for (const span of spans) {
    const groups = await groupFigures(needs.database, { ...filter, ...span }, withPeople(by), mostAtOnce)
    if (groups === undefined) throw tooManyRows()
    for (let start = 0; start < groups.length; start += perPiece) {
      const piece = groups.slice(start, start + perPiece)
      const names = await namesIn(
        needs,
        visit,
        piece.map(({ group }) => group),
      )
      yield piece.map((each) => presentGroup(each, names))
    }
  }
}
