import type { Queryable } from '../../platform/database/database.ts'

/** An account that a person was granted. */
export interface AccountGrant {
  readonly personId: string
  readonly accountId: string
  /** The name of the account. */
  readonly name: string
}

/** The grants of everyone, by the names of the accounts. */
export function readAllGrants(database: Queryable): Promise<AccountGrant[]> {
  return database.rows(
    `select g.person_id as "personId", a.id as "accountId", a.name
     from account_grant g join account a on a.id = g.account_id order by a.name, a.id`,
  )
}

/** Whether the account exists, and whether the grant was added: the person may have it already. */
export async function insertGrant(tx: Queryable, personId: string, accountId: string) {
  const [outcome] = await tx.rows<{ readonly exists: boolean; readonly added: boolean }>(
    `with added as (
       insert into account_grant (person_id, account_id) select $1, id from account where id = $2
       on conflict do nothing returning 1)
     select exists (select from account where id = $2) as exists, exists (select from added) as added`,
    [personId, accountId],
  )
  return outcome
}

/** False if the person does not have it. */
export async function deleteGrant(tx: Queryable, personId: string, accountId: string): Promise<boolean> {
  const rows = await tx.rows('delete from account_grant where person_id = $1 and account_id = $2 returning 1', [
    personId,
    accountId,
  ])
  return rows.length > 0
}

/** Returns the ids of the accounts. */
export async function deleteGrantsOf(tx: Queryable, personId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    'delete from account_grant where person_id = $1 returning account_id as id',
    [personId],
  )
  return rows.map(({ id }) => id)
}
