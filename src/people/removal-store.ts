import type { Queryable } from '../platform/database/database.ts'
import type { Person } from './person.ts'

/** The tables of second factors. A passkey can be a sign-in method too, so a lost one is lost as both. */
const factorTables = ['totp', 'phone', 'recovery_code', 'passkey'] as const

/** What a person signs in with, and their invitations, by the condition on its rows. */
const signInData = {
  identity: 'person_id = $1',
  password: 'person_id = $1',
  passkey_owner: 'person_id = $1',
  known_browser: 'person_id = $1',
  invitation: 'person_id = $1 or email_key = (select email_key from person where id = $1)',
} satisfies Record<string, string>

/** The caller has ended the sessions and what was mailed to the address. */
export async function deleteSignInData(tx: Queryable, { id }: Pick<Person, 'id'>): Promise<void> {
  await deleteFactors(tx, { id })
  for (const [table, condition] of Object.entries(signInData)) {
    await tx.rows(`delete from ${table} where ${condition}`, [id])
  }
}

/** False if the person had none. */
export async function deleteFactors(tx: Queryable, { id }: Pick<Person, 'id'>): Promise<boolean> {
  let deleted = 0
  for (const table of factorTables) {
    deleted += (await tx.rows(`delete from ${table} where person_id = $1 returning 1`, [id])).length
  }
  return deleted > 0
}
