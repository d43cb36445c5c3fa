import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { itemRow, type ItemsRow } from './store.ts'
import type { ItemKind } from './kinds.ts'
import type { PagePosition } from '../list/paging.ts'
import { within } from '../statements-store.ts'

export interface ItemPageRow extends ItemsRow {
  readonly totals: Readonly<Record<string, unknown>>
}

/**
 * The items of a kind that has pages after a position, the latest day first, and the totals of all of them. Archived ones are
 * left out. `unit` is the minor unit of the currency in 10⁻¹².
 */
export function readItemPage(
  kind: ItemKind,
  scope: Scope,
  clientId: string,
  { after, limit, unit }: { readonly after: PagePosition | undefined; readonly limit: number; readonly unit: bigint },
): PreparedStatement<ItemPageRow> {
  const { condition, value, name } = within(scope)
  const totals = Object.entries(kind.totals?.(unit) ?? {}).map(([total, expression]) => `${expression} as ${total}`)
  const rest = 'n.archived_at is null and ($3::date is null or (n.date, n.id) < ($3, $4::uuid))'
  return {
    name: `page of ${kind.plural} ${name}`,
    text: `select c.consultant_id, (select json_agg(item) from (
        ${itemRow(kind, rest)} order by n.date desc, n.id desc limit $5) item) as items,
        (select row_to_json(total) from (
          select ${totals.join(', ')} from ${kind.noun} n where n.client_id = c.id and n.archived_at is null) total) as totals
      from client c where ${condition} and c.id = $2`,
    values: [value, clientId, after?.key, after?.id, limit],
  }
}
