import type { Queryable } from '../platform/database/database.ts'
import { addAppended } from './reports/store.ts'

/**
 * Adds the charges that instances have only appended to the sums of accounts, keys, days and tags. Call it before reading those sums: they
 * then include every reply that was sent before the call. Do not call it in a transaction that has locked an account.
 */
export const foldCharges = (database: Queryable): Promise<void> => addAppended(database)
