import type { Scope } from '../access/policy.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { itemRow, type ItemsRow } from './items-store.ts'
import type { ItemKind } from './kinds.ts'
import type { PagePosition } from './paging.ts'
import { within } from './statements-store.ts'

/** The items of a kind that has pages after a position, the latest day first. Archived ones are left out. */
export function readItemPage(
  kind: ItemKind,
  scope: Scope,
  clientId: string,
  { after, limit }: { readonly after: PagePosition | undefined; readonly limit: number },
): PreparedStatement<ItemsRow> {
  const { condition, value, name } = within(scope)
  const rest = 'n.archived_at is null and ($3::date is null or (n.date, n.id) < ($3, $4::uuid))'
  return {
    name: `page of ${kind.plural} ${name}`,
    text: `select c.consultant_id, (select json_agg(item) from (
        ${itemRow(kind, rest)} order by n.date desc, n.id desc limit $5) item) as items
      from client c where ${condition} and c.id = $2`,
    values: [value, clientId, after?.key, after?.id, limit],
  }
}
