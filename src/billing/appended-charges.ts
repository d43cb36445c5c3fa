import type { Queryable } from '../platform/database/database.ts'
import { addAppended } from './reports/store.ts'

/**
 * Adds to the sums of accounts, keys, days and tags what instances have charged and not added yet: all that they replied to before. Whoever
 * reads those sums calls it first, and not in a transaction that has locked an account.
 */
export const foldCharges = (database: Queryable): Promise<void> => addAppended(database)
