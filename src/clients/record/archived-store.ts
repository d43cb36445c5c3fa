import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { itemRow, touched, type ItemsRow, type ItemWrite } from '../items/store.ts'
import type { ItemKind } from '../items/kinds.ts'
import { logged, loggedValues } from '../items/logged-store.ts'
import type { PagePosition } from '../../platform/http/input/paging.ts'
import { within } from '../statements-store.ts'
import { basisText, type Basis } from '../../platform/http/versions.ts'

/** The archived items of a client after a position, latest first. Its key is the time at which an item was archived. */
export function readArchived(
  kind: ItemKind,
  scope: Scope,
  clientId: string,
  { after, limit }: { readonly after: PagePosition | undefined; readonly limit: number },
): PreparedStatement<ItemsRow> {
  const { condition, value, name } = within(scope)
  const rest = 'n.archived_at is not null and ($3::timestamptz is null or (n.archived_at, n.id) < ($3, $4::uuid))'
  return {
    name: `archived ${kind.plural} ${name}`,
    text: `select c.consultant_id, (select json_agg(item) from (
        ${itemRow(kind, rest)} order by n.archived_at desc, n.id desc limit $5) item) as items
      from client c where ${condition} and c.id = $2`,
    values: [value, clientId, after?.key, after?.id, limit],
  }
}

/**
 * Returns no row if the item is not archived, if its version is not in `basis`, or if the client is archived or outside the
 * scope. It writes the columns as they are, because the trigger that limits a record watches them.
 */
export function restoreItem(
  kind: ItemKind,
  scope: Scope,
  { visit, clientId, id, basis }: ItemWrite & { readonly basis: Basis },
): PreparedStatement {
  const { condition, value, name } = within(scope)
  const same = kind.columns.map((column) => `${column} = n.${column}`)
  return {
    name: `restore ${kind.noun} ${name}`,
    text: `with changed as (
        update ${kind.noun} n set archived_at = null, ${same.join(', ')}, ${touched}
        from client c where ${condition} and c.id = $2 and c.status = 'active' and n.client_id = c.id and n.id = $3
          and n.archived_at is not null and ($4::int[] is null or n.version = any ($4))
        returning n.id, n.client_id, n.version)
      ${logged(kind.noun, `'${kind.noun}_restored'`, 5)}`,
    values: [value, clientId, id, basisText(basis), ...loggedValues(visit, [])],
  }
}
