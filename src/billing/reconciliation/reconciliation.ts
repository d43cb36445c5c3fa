import type { LineFault } from '../../platform/text/csv-records.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { ModelGroup, ModelGroups } from './model-groups.ts'
import {
  readCandidates,
  readFailures,
  readLedgerDays,
  readToday,
  type SuspectRequest,
  type LedgerDay,
} from './store.ts'
import { readUsageExport, type ExportOptions, type UsageExport } from './usage-export.ts'
import { measures, type Measure } from './vendor-row.ts'

export { groupModels } from './model-groups.ts'
export type { SuspectRequest } from './store.ts'
export type { Measure } from './vendor-row.ts'

/** A count that the vendor and the ledger do not share. */
export interface CountDifference {
  readonly kind: Measure
  readonly vendor: bigint
  readonly ledger: bigint
}

/** A day and a group of models of which the vendor counted something else. */
export interface Difference {
  readonly day: string
  readonly group: ModelGroup
  readonly counts: readonly CountDifference[]
  /** Tokens that the upstream reported and nobody was charged for. */
  readonly unchargedInput: bigint
  readonly unchargedOutput: bigint
  /** Requests that may explain it, at most 20, the most telling first. */
  readonly candidates: readonly SuspectRequest[]
  /** How many there are. */
  readonly allCandidates: bigint
  /** Failed requests whose work the vendor may have counted, by error code. */
  readonly failures: readonly { readonly code: string; readonly requests: bigint }[]
}

export interface Reconciliation extends Pick<UsageExport, 'format' | 'rows' | 'from' | 'to' | 'measures' | 'hasMore'> {
  readonly groups: readonly ModelGroup[]
  /** Days of groups with usage, by the vendor or in the ledger. */
  readonly compared: number
  readonly differences: readonly Difference[]
  /** Whether the last day is not over. */
  readonly isUnfinished: boolean
}

interface ReconciliationNeeds {
  readonly database: Queryable
  readonly chunks: AsyncIterable<Uint8Array>
  readonly options: ExportOptions
}

const mostCandidates = 20

/**
 * Compares a vendor's usage export with the ledger, day by day in UTC: the models in the export and those that are called at the
 * same place. Returns what is wrong with the file instead, if anything is. Changes nothing.
 */
export async function reconcile({
  database,
  chunks,
  options,
}: ReconciliationNeeds): Promise<Reconciliation | LineFault[]> {
  const vendor = await readUsageExport(chunks, options)
  if (Array.isArray(vendor)) return vendor
  const groups = comparedGroups(vendor, options.models)
  const { from, to } = { from: options.from ?? vendor.from, to: options.to ?? vendor.to }
  const models = [...new Set(groups.flatMap((group) => group.models))]
  const ledger = Map.groupBy(await readLedgerDays(database, { from, to, models }), ({ day }) => day)
  const counted = new Map(vendor.days.map((each) => [`${each.day} ${each.group.name}`, each.counts]))
  const days = [...new Set([...ledger.keys(), ...vendor.days.map(({ day }) => day)])].toSorted()
  let compared = 0
  const differences: Omit<Difference, 'candidates' | 'allCandidates' | 'failures'>[] = []
  for (const day of days) {
    for (const group of groups) {
      const rows = (ledger.get(day) ?? []).filter(({ model }) => group.models.includes(model))
      const counts = counted.get(`${day} ${group.name}`)
      if (rows.length === 0 && counts === undefined) continue
      compared += 1
      const differing = differingCounts(vendor.measures, counts, rows)
      if (differing.length === 0) continue
      const [unchargedInput, unchargedOutput] = [sumOf(rows, 'unchargedInput'), sumOf(rows, 'unchargedOutput')]
      differences.push({ day, group, counts: differing, unchargedInput, unchargedOutput })
    }
  }
  const { format, rows, measures: kinds, hasMore } = vendor
  const isUnfinished = to >= (await readToday(database))
  return {
    format,
    rows,
    from,
    to,
    measures: kinds,
    hasMore,
    groups,
    compared,
    isUnfinished,
    differences: await explained(database, differences),
  }
}

/** The groups in the export, and those that are called at the same places. */
function comparedGroups({ days }: UsageExport, { groups }: ModelGroups): ModelGroup[] {
  const named = new Set(days.map(({ group }) => group))
  const places = new Set([...named].flatMap((group) => group.places))
  return groups.filter((group) => named.has(group) || group.places.some((place) => places.has(place)))
}

function differingCounts(
  kinds: readonly Measure[],
  counts: ReadonlyMap<Measure, bigint> | undefined,
  rows: readonly LedgerDay[],
): CountDifference[] {
  return kinds.flatMap((kind) => {
    const vendor = counts?.get(kind) ?? 0n
    const ledger = measures[kind].reduce((sum, part) => sum + sumOf(rows, part), 0n)
    return vendor === ledger ? [] : [{ kind, vendor, ledger }]
  })
}

type Part = Exclude<keyof LedgerDay, 'day' | 'model'>

const sumOf = (rows: readonly LedgerDay[], part: Part): bigint => rows.reduce((sum, row) => sum + row[part], 0n)

const keyOf = (each: { readonly day: string; readonly name: string }): string => `${each.day} ${each.name}`

async function explained(
  database: Queryable,
  differences: readonly Omit<Difference, 'candidates' | 'allCandidates' | 'failures'>[],
): Promise<Difference[]> {
  if (differences.length === 0) return []
  const cells = differences.map(({ day, group }) => ({ day, name: group.name, models: group.models }))
  const candidates = Map.groupBy(await readCandidates(database, cells, mostCandidates), keyOf)
  const failures = Map.groupBy(await readFailures(database, cells), keyOf)
  return differences.map((difference) => {
    const key = keyOf({ day: difference.day, name: difference.group.name })
    const own = candidates.get(key) ?? []
    return {
      ...difference,
      candidates: own,
      allCandidates: own[0]?.all ?? 0n,
      failures: (failures.get(key) ?? []).map(({ code, requests }) => ({ code, requests })),
    }
  })
}
