import { hash } from 'node:crypto'
import type { Queryable } from '../../platform/database/database.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { RecordAccess } from '../access.ts'
import type { Visit } from '../actor.ts'

/**
 * The database as the actor of a visit sees it, under row-level security. Each query is a transaction of its own. Only for queries whose
 * text is one of a few, because each is prepared.
 */
export function readerOf(access: Pick<RecordAccess, 'as'>, visit: Visit): Queryable {
  return {
    async rows<Row>(query: Parameters<Queryable['rows']>[0], given: readonly unknown[] = []) {
      const { text, values = given } = typeof query === 'string' ? { text: query } : query
      const name = `read ${hash('sha256', text).slice(0, 24)}`
      const statement: PreparedStatement<Row> = { name, text, values: values.map(plain) }
      const [rows] = await access.as(visit, [statement])
      return [...rows]
    },
  }
}

/** Arrays and the like have no single form as text. */
function plain(value: unknown): string | number | bigint | boolean | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number') return value
  if (typeof value === 'bigint' || typeof value === 'boolean') return value
  throw new TypeError(`a value of the type ${typeof value} cannot be sent as text`)
}
