import { personActor } from '../../access/actor.ts'
import { mayOnSome } from '../../access/policy.ts'
import { Problem } from '../../platform/problems.ts'
import { today } from '../../platform/text/calendar.ts'
import type { Person } from '../../people/person.ts'
import type { OwnChange, OwnNeeds } from './own.ts'
import * as store from './store.ts'

/** Whether people are mailed their tasks in the morning. Off until they turn it on. */
export interface OwnTaskMail {
  /** Nothing changes if it is on. Throws Problem `conflict` if the person cannot be mailed. */
  turnOn(change: OwnChange): Promise<void>
  /** Nothing changes if it is off. */
  turnOff(change: OwnChange): Promise<void>
  /** Null if the person cannot be mailed their tasks. */
  isOn(person: Pick<Person, 'id' | 'email' | 'role'>): Promise<boolean | null>
}

type Needs = Pick<OwnNeeds, 'database' | 'audit' | 'hasMail' | 'timeZone'>

export function createOwnTaskMail({ database, audit, hasMail, timeZone }: Needs): OwnTaskMail {
  const canBeMailed = ({ id, email, role }: Pick<Person, 'id' | 'email' | 'role'>) =>
    hasMail && email !== null && mayOnSome(personActor({ id, role }), 'list', 'client')

  return Object.freeze<OwnTaskMail>({
    async turnOn({ session: { person }, by }) {
      if (!canBeMailed(person))
        throw new Problem('conflict', 'You have no email address here, or no mail server is configured.')
      await database.transaction(async (tx) => {
        if (!(await store.insertTaskMail(tx, person.id, today(timeZone)))) return
        await audit.recordWithin(tx, [
          { ...by, action: 'task_mail_turned_on', outcome: 'allowed', noun: 'person', nounId: person.id },
        ])
      })
    },
    turnOff: ({ session: { person }, by }) =>
      database.transaction(async (tx) => {
        if (!(await store.deleteTaskMail(tx, person.id))) return
        await audit.recordWithin(tx, [
          { ...by, action: 'task_mail_turned_off', outcome: 'allowed', noun: 'person', nounId: person.id },
        ])
      }),
    isOn: async (person) => (canBeMailed(person) ? store.readTaskMail(database, person.id) : null),
  })
}
