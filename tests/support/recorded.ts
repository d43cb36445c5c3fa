import type { Database } from '../../src/platform/database/database.ts'
import type { Json } from './json.ts'

/** The columns of the audit events of a request, in their order. */
export const eventsOf = (
  { headers }: { readonly headers: Headers },
  database: Pick<Database, 'rows'>,
  columns: string,
): Promise<Json[]> =>
  database.rows<Json>(`select ${columns} from audit where request_id = $1 order by id`, [headers.get('request-id')])
