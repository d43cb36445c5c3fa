import type { Queryable } from '../platform/database/database.ts'

/** Whether the person has set up a second factor, usable or not, other than recovery codes. */
export async function hasStoredFactor(database: Queryable, personId: string): Promise<boolean> {
  const [row] = await database.rows<{ found: boolean }>(
    `select exists (select from totp where person_id = $1) or exists (select from phone where person_id = $1)
       or exists (select from passkey where person_id = $1) as found`,
    [personId],
  )
  return row?.found === true
}
