import type { Visit } from '../../access/actor.ts'
import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { logged, loggedValues, within } from '../statements-store.ts'

interface VersionWrite {
  readonly visit: Visit
  readonly clientId: string
  /** The letter to copy. */
  readonly letterId: string
  /** The id of the new letter. */
  readonly id: string
}

/** Inserts nothing if the client is archived or outside the scope, the letter is archived, or the new one exists. */
export function insertVersion(scope: Scope, { visit, clientId, letterId, id }: VersionWrite): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `insert version ${name}`,
    text: `with changed as (
        insert into letter (id, client_id, subject, body, previous_id)
        select $3, c.id, n.subject, n.body, n.id from client c, letter n
        where ${condition} and c.id = $2 and c.status = 'active' and n.client_id = c.id and n.id = $4
          and n.archived_at is null
        on conflict do nothing returning id, client_id, version)
      ${logged('letter', `'letter_version_created'`, 5)}`,
    values: [value, clientId, id, letterId, ...loggedValues(visit, [])],
  }
}

/** What a file of a letter is written from. */
export interface LetterToWrite {
  readonly consultant_id: string
  readonly name: string
  readonly address: string | null
  readonly subject: string
  readonly body: string
  readonly sent_at: Date | null
  /** The name and the address that it was sent to; null before. */
  readonly recipient: string | null
  readonly author: string | null
  /** Whether a model wrote it or a version before it, and whether its text is no longer as a model wrote it. */
  readonly generated: boolean
  readonly edited: boolean
}

const toWrite = `select n.id, c.consultant_id, c.name, c.address, n.subject, n.body, n.recipient,
    coalesce(n.sent_at, case n.status when 'sent' then n.updated_at end) as sent_at,
    coalesce(n.author, (select person.name from person where person.id = n.created_by)) as author,
    history.generated, history.edited
  from client c join letter n on n.client_id = c.id
    cross join lateral (
      with recursive version as (
        select n.id, n.previous_id, n.generated
        union select l.id, l.previous_id, l.generated from letter l join version v on l.id = v.previous_id)
      select bool_or(v.generated) as generated, not exists (
          select from version v join draft d on d.letter_id = v.id
            join revision r on r.noun = 'letter' and r.noun_id = v.id
              and r.version = case d.letter_id when d.rewrites then d.rewrites_version + 1 else 1 end
          where r.data ->> 'body' = n.body) as edited
      from version v) history`

type LetterToSend = Pick<LetterToWrite, 'name' | 'address' | 'author'> & {
  /** Null for a new letter. */
  readonly subject: string | null
  readonly body: string | null
}

/** What a letter would be sent from, or a new one without an id. */
export function readLetterToSend(
  scope: Scope,
  clientId: string,
  id: string | undefined,
): PreparedStatement<LetterToSend> {
  const { condition, value, name } = within(scope)
  return {
    name: `letter to send ${name}`,
    text: `select c.name, c.address, n.subject, n.body,
        (select person.name from person where person.id = coalesce(n.created_by, portal_person())) as author
      from client c left join letter n on n.client_id = c.id and n.id = $3
      where ${condition} and c.id = $2 and ($3::uuid is null or n.id is not null)`,
    values: [value, clientId, id ?? null],
  }
}

/** A letter with its id, for an export. */
export type LetterToExport = LetterToWrite & { readonly id: string }

/** The letters of a client, oldest first, including archived ones. */
export function readLettersToWrite(scope: Scope, clientId: string): PreparedStatement<LetterToExport> {
  const { condition, value, name } = within(scope)
  return {
    name: `letters to write ${name}`,
    text: `${toWrite} where ${condition} and c.id = $2 order by n.created_at, n.id`,
    values: [value, clientId],
  }
}

export function readLetterToWrite(scope: Scope, clientId: string, id: string): PreparedStatement<LetterToWrite> {
  const { condition, value, name } = within(scope)
  return {
    name: `letter to write ${name}`,
    text: `${toWrite}
      where ${condition} and c.id = $2 and n.id = $3 and n.archived_at is null`,
    values: [value, clientId, id],
  }
}
