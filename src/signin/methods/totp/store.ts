import type { Queryable } from '../../../platform/database/database.ts'

export interface TotpRow {
  readonly personId: string
  /** Encrypted. */
  readonly secret: Buffer
  /** The time step of the last accepted code. */
  readonly lastStep: number
}

/** Replaces the one that the person has. */
export async function putTotp(tx: Queryable, { personId, secret, lastStep }: TotpRow, at: Date): Promise<void> {
  await tx.rows(
    `insert into totp (person_id, secret, last_step, created_at) values ($1, $2, $3, $4)
     on conflict (person_id) do update set secret = $2, last_step = $3, created_at = $4`,
    [personId, secret, lastStep, at],
  )
}

/** The encrypted secret; undefined if the person has none. */
export async function readTotpSecret(database: Queryable, personId: string): Promise<Buffer | undefined> {
  const [row] = await database.rows<{ secret: Buffer }>('select secret from totp where person_id = $1', [personId])
  return row?.secret
}

/** Uses up a time step and all before it. False if it was used up: of several codes at once, one is accepted. */
export async function useTotpStep(database: Queryable, personId: string, step: number): Promise<boolean> {
  const rows = await database.rows(
    'update totp set last_step = $2 where person_id = $1 and last_step < $2 returning 1',
    [personId, step],
  )
  return rows.length > 0
}

/** False if the person has none. */
export async function deleteTotp(tx: Queryable, personId: string): Promise<boolean> {
  return (await tx.rows('delete from totp where person_id = $1 returning 1', [personId])).length > 0
}
