import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import type { Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import { readClientNames, readNames, readPartner } from './store.ts'

/** The names of everything that a report mentions. */
export interface Names {
  of(this: void, id: string): NamedId
  /** Null for no id. */
  orNull(this: void, id: string | null): NamedId | null
}

export interface NamedId {
  readonly id: string
  /** Null if it no longer exists, or never did. */
  readonly name: string | null
}

/** Ids in a report. Rows share their shape, so that one function collects the ids of groups and of requests. */
interface Mentions {
  readonly accountId?: string | null | undefined
  readonly keyId?: string | null | undefined
  readonly personId?: string | null | undefined
  readonly clientId?: string | null | undefined
}

interface NamesNeeds {
  readonly database: Queryable
  readonly access: Pick<RecordAccess, 'as'>
}

/** Reads names on behalf of a partner. Throws Problem `forbidden` for someone who is no longer a partner. */
export async function namesIn(
  { database, access }: NamesNeeds,
  visit: Visit,
  rows: readonly Mentions[],
): Promise<Names> {
  const ids = (pick: (row: Mentions) => readonly (string | null | undefined)[]) => [
    ...new Set(rows.flatMap(pick).filter((id) => id !== null && id !== undefined)),
  ]
  const [names, [[reader], clients]] = await Promise.all([
    readNames(
      database,
      ids(({ accountId, keyId, personId }) => [accountId, keyId, personId]),
    ),
    access.as(visit, [readPartner, readClientNames(`{${ids(({ clientId }) => [clientId]).join()}}`)]),
  ])
  if (reader?.partner !== true) throw new Problem('forbidden', 'Only partners may see the usage.')
  const all = new Map([...names, ...clients.map(({ id, name }) => [id, name] as const)])
  const of = (id: string): NamedId => ({ id, name: all.get(id) ?? null })
  return { of, orNull: (id) => (id === null ? null : of(id)) }
}
