import type { Database } from '../database/database.ts'
import type { SealLine } from './seal-line.ts'

/** How far a chain is sealed, and what remains. */
export interface Horizon {
  readonly chain: string
  /** The last sealed row number. */
  readonly sealed: bigint
  /** The last row number that was drawn. */
  readonly last: bigint
  /** A transaction id younger than every transaction that drew a number up to `last`; null: nothing is unsealed. */
  readonly mark: string | null
  /** The oldest running transaction. */
  readonly oldest: string
}

export function readHorizons(database: Database): Promise<Horizon[]> {
  return database.rows('select chain, sealed, last, mark, oldest from seal_horizon()')
}

export interface AddedSeal extends SealLine {
  readonly rows: bigint
}

/** The next seal of a chain, of rows up to `upto`. Undefined: nothing to seal, or another instance is sealing. */
export async function addSeal(database: Database, chain: string, upto: bigint): Promise<AddedSeal | undefined> {
  const [seal] = await database.rows<AddedSeal>(
    `select chain, number, upto, rows, encode(hash, 'hex') as hash from add_seal($1, $2)`,
    [chain, upto],
  )
  return seal
}
