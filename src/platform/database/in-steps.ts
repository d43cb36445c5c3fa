import type { Queryable } from './database.ts'

/** Rows that one statement changes at most, so that it never delays others. */
export const rowsAtOnce = 1000

/** Repeats a statement that changes `rowsAtOnce` rows at most, and returns one for each, until it changes fewer. */
export async function inSteps(database: Queryable, statement: string): Promise<void> {
  while ((await database.rows(statement)).length === rowsAtOnce);
}
