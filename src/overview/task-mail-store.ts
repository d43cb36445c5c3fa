import type { Role } from '../access/actor.ts'
import type { Queryable } from '../platform/database/database.ts'

/** A person whose tasks are to be mailed. */
export interface MailedPerson {
  readonly id: string
  readonly role: Role
  readonly email: string
}

const mayBeMailed = `p.status = 'active' and p.email is not null`

/** The people who turned the mail on and have not been mailed their tasks of the day. */
export async function readUnsettled(database: Queryable, day: string): Promise<string[]> {
  const rows = await database.rows<{ id: string }>(
    `select p.id from task_mail m join person p on p.id = m.person_id
     where m.settled_on < $1 and ${mayBeMailed} order by p.id`,
    [day],
  )
  return rows.map(({ id }) => id)
}

/**
 * Settles the day of a person, if the transaction commits. Undefined if the day is settled, another instance is settling it, or the person
 * may no longer be mailed.
 */
export async function settleDay(tx: Queryable, personId: string, day: string): Promise<MailedPerson | undefined> {
  const [person] = await tx.rows<MailedPerson>(
    `with due as (select person_id from task_mail where person_id = $1 and settled_on < $2 for update skip locked)
     update task_mail m set settled_on = $2 from due join person p on p.id = due.person_id and ${mayBeMailed}
     where m.person_id = due.person_id returning p.id, p.role, p.email`,
    [personId, day],
  )
  return person
}
