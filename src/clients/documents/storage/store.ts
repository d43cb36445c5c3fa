import type { Scope } from '../../../access/policy.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { PreparedStatement } from '../../../platform/database/pipeline.ts'
import { proven } from '../../../platform/database/proven-store.ts'
import { within } from '../../statements-store.ts'
import type { Place } from './object-store.ts'

/** Notes an object before it is written. It is removed after a day unless a chunk has it by then. Returns no row if the client is archived or outside the scope. */
export function insertObject(
  scope: Scope,
  { clientId, digest, place }: { readonly clientId: string; readonly digest: Buffer; readonly place: Place },
): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `insert object ${name}`,
    text: `with here as materialized (
        select c.id from client c where ${condition} and c.id = $2 and c.status = 'active' for key share of c)
      insert into document_object (digest, client_id, place) select $3, here.id, $4 from here returning true as done`,
    values: [value, clientId, digest, place],
  }
}

/** The places in which there may be objects, also such as only wait for their removal. */
export async function readPlacesInUse(database: Database): Promise<Place[]> {
  const rows = await proven(database, (tx) =>
    tx.rows<{ place: Place }>(
      `select place from (values ('folder'), ('bucket')) p (place)
       where exists (select from document_object o where o.place = p.place)`,
    ),
  )
  return rows.map(({ place }) => place)
}

export interface UnneededObject {
  /** Its name. */
  readonly digest: string
}

/** Some objects in a place that no chunk needs any more. In no order, so that those that cannot be removed are not always the first. */
export function readUnneeded(database: Database, place: Place): Promise<UnneededObject[]> {
  return proven(database, (tx) =>
    tx.rows(
      `select encode(digest, 'hex') as digest from document_object o where remove_after < clock_timestamp()
         and place = $1 and not exists (select from document_chunk k where k.object = o.digest)
       order by random() limit 100`,
      [place],
    ),
  )
}

/** Forgets objects once they are removed. */
export async function deleteObjects(database: Database, removed: readonly UnneededObject[]): Promise<void> {
  const digests = removed.map(({ digest }) => `\\x${digest}`)
  await proven(database, (tx) =>
    tx.rows('delete from document_object where digest = any ($1::bytea[]) and remove_after < clock_timestamp()', [
      digests,
    ]),
  )
}
