import type { Queryable } from '../platform/database/database.ts'

/**
 * Adds to the sums of accounts, keys, days and tags what instances have charged and not added yet: all that they replied to before. Whoever
 * reads those sums calls it first, and not in a transaction that has locked an account.
 */
export async function foldCharges(database: Queryable): Promise<void> {
  await database.rows({
    name: 'fold charges',
    text: 'select fold_charges() from (select from instance where appended_since is not null limit 1) any_of_them',
    values: [],
  })
}
