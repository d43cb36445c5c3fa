import type { Queryable } from '../platform/database/database.ts'
import { methods } from './methods/methods.ts'
import { deleteRows } from './store.ts'

const tablesOf = methods.map(({ tables }) => tables)
/** A passkey can be a sign-in method too, so a lost one is lost as both. */
const ofFactors = tablesOf.flatMap((tables) => [...(tables.ofFactors ?? []), ...(tables.withFactors ?? [])])
const ofPeople = [...tablesOf.flatMap((tables) => tables.ofPeople ?? []), 'known_browser', 'task_mail']

/** Removes the second factors of a person, and their recovery codes. False if they had none. */
export async function removeFactors(tx: Queryable, personId: string): Promise<boolean> {
  return (await deleteRows(tx, ofFactors, personId)) > 0
}

/** Removes what a person signs in with. The caller has ended their sessions, and what was mailed to their address. */
export async function removeSignInData(tx: Queryable, personId: string): Promise<void> {
  await deleteRows(tx, [...ofFactors, ...ofPeople], personId)
}
