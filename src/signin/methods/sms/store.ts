import type { Queryable } from '../../../platform/database/database.ts'

/** Replaces the one that the person has. */
export async function putPhone(
  tx: Queryable,
  { personId, number, at }: { readonly personId: string; readonly number: string; readonly at: Date },
): Promise<void> {
  await tx.rows(
    `insert into phone (person_id, number, verified_at) values ($1, $2, $3)
     on conflict (person_id) do update set number = $2, verified_at = $3`,
    [personId, number, at],
  )
}

/** The person's verified number. */
export async function readPhone(database: Queryable, personId: string): Promise<string | undefined> {
  const [row] = await database.rows<{ number: string }>('select number from phone where person_id = $1', [personId])
  return row?.number
}

/** False if the person has none. */
export async function deletePhone(tx: Queryable, personId: string): Promise<boolean> {
  return (await tx.rows('delete from phone where person_id = $1 returning 1', [personId])).length > 0
}
