import type { Queryable } from '../../../platform/database/database.ts'

/** Replaces all codes of a person. */
export async function replaceRecoveryCodes(tx: Queryable, personId: string, hashes: readonly Buffer[]): Promise<void> {
  await deleteRecoveryCodes(tx, personId)
  await tx.rows('insert into recovery_code (person_id, hash) select $1, unnest($2::bytea[])', [personId, hashes])
}

export async function deleteRecoveryCodes(tx: Queryable, personId: string): Promise<void> {
  await tx.rows('delete from recovery_code where person_id = $1', [personId])
}

/** Uses up a code. False if there is no such code: of several uses at once, one succeeds. */
export async function useRecoveryCode(tx: Queryable, personId: string, hash: Buffer): Promise<boolean> {
  const rows = await tx.rows('delete from recovery_code where person_id = $1 and hash = $2 returning 1', [
    personId,
    hash,
  ])
  return rows.length > 0
}

export async function countRecoveryCodes(database: Queryable, personId: string): Promise<number> {
  const [row] = await database.rows<{ count: bigint }>('select count(*) from recovery_code where person_id = $1', [
    personId,
  ])
  return Number(row?.count ?? 0)
}
