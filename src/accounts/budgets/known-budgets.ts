import type { Payer, PayerBudget, Tags } from '../../billing/payer.ts'
import { formatMoney } from '../../billing/prices/money.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { leftOf, renewsIn, type Budget } from './budget.ts'
import { readBudgets, readHardBudgets, type KnownBudgetRow } from './store.ts'

export { leftOf, periods, renewsIn } from './budget.ts'

/** The hard budgets of an account: those of each key, and those of each tag by name and value. */
export interface KnownBudgets {
  readonly byKey: ReadonlyMap<string, readonly KnownBudget[]>
  readonly byTag: ReadonlyMap<string, ReadonlyMap<string, readonly KnownBudget[]>>
}

/** A budget and what is left of it, as of a second ago. */
export interface KnownBudget extends PayerBudget, Pick<KnownBudgetRow, 'limit' | 'charged' | 'held' | 'renewsAt'> {}

/** Those of tags and of these keys, by account. Makes no query without keys. */
export async function findKnownBudgets(
  database: Queryable,
  keys: readonly { readonly id: string; readonly accountId: string }[],
): Promise<ReadonlyMap<string, KnownBudgets>> {
  if (keys.length === 0) return new Map()
  const accounts = new Set(keys.map(({ accountId }) => accountId))
  const rows = await readHardBudgets(
    database,
    [...accounts],
    keys.map(({ id }) => id),
  )
  return new Map([...Map.groupBy(rows, ({ accountId }) => accountId)].map(([id, budgets]) => [id, indexed(budgets)]))
}

function indexed(rows: readonly KnownBudgetRow[]): KnownBudgets {
  const byKey = new Map<string, KnownBudget[]>()
  const byTag = new Map<string, Map<string, KnownBudget[]>>()
  for (const { tag, keys, ...budget } of rows) {
    for (const key of keys) add(byKey, key, budget)
    if (tag === null) continue
    const values = byTag.get(tag.name) ?? new Map<string, KnownBudget[]>()
    byTag.set(tag.name, values)
    add(values, tag.value, budget)
  }
  return { byKey, byTag }
}

function add(to: Map<string, KnownBudget[]>, name: string, budget: KnownBudget): void {
  const others = to.get(name)
  if (others === undefined) to.set(name, [budget])
  else others.push(budget)
}

/** The budgets that requests with a key can count in: those of the key, and those of tags. Fold the charges before. */
export async function findOwnBudgets(
  database: Queryable,
  { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
): Promise<Budget[]> {
  const all = await readBudgets(database, accountId)
  return all.filter(({ keys }) => keys === null || keys.includes(keyId))
}

/** What the till must know of the budgets that a request counts in. */
export function budgetsFor(
  { byKey, byTag }: KnownBudgets,
  keyId: string,
  tags: Tags | undefined,
): { readonly budgets: readonly KnownBudget[] } & Pick<Payer, 'tags'> {
  const ofKey = byKey.get(keyId) ?? []
  if (tags === undefined || byTag.size === 0) return { budgets: ofKey }
  const ofTags = Object.entries(tags).flatMap(([name, value]) => byTag.get(name)?.get(value) ?? [])
  return { budgets: [...ofKey, ...ofTags], tags }
}

/** What is left of the budget with the least left, and the seconds until it is renewed, as headers. None without a budget. */
export function budgetHeaders(budgets: readonly KnownBudget[]): Record<string, string> {
  const [tightest] = budgets.toSorted((a, b) => (leftOf(a) < leftOf(b) ? -1 : 1))
  if (tightest === undefined) return {}
  const seconds = renewsIn(tightest)
  return {
    'x-budget-limit': formatMoney(tightest.limit),
    'x-budget-remaining': formatMoney(leftOf(tightest)),
    ...(seconds !== null && { 'x-budget-reset': String(seconds) }),
  }
}
