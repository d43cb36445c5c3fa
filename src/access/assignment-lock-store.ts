import type { Queryable } from '../platform/database/database.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'

/**
 * Clients are assigned to a person under a shared lock, and the person is deleted under an exclusive one, so that no
 * client stays assigned to a deleted person. A row lock cannot do this: the portal's users may not lock people. Both
 * last until the end of the transaction.
 */
const keyOf = (personId: string) => `hashtextextended('clients of ' || lower(${personId}), 0)`

/** Must precede the assigning statement: a statement sees only what was committed before it began. */
export function lockAssignments(...personIds: readonly string[]): PreparedStatement {
  return {
    name: 'lock assignments',
    text: `select pg_advisory_xact_lock_shared(${keyOf('id')}) from jsonb_array_elements_text($1::jsonb) as id`,
    values: [JSON.stringify(personIds)],
  }
}

/** Waits for assignments that have begun; later ones wait for the end of the transaction. */
export async function preventAssignments(tx: Queryable, personId: string): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(${keyOf('$1::text')})`, [personId])
}
