import { randomUUIDv7, timingSafeEqual } from 'node:crypto'
import { personActor, type PersonActor } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import { Problem } from '../../platform/problems.ts'
import type { CredentialChanges } from '../credential-change.ts'
import { lockSignedIn } from '../attempt/locked-person-store.ts'
import type { OwnChange, OwnNeeds } from './own.ts'
import * as store from './store.ts'

/** What is in the address of a calendar. */
export interface CalendarAddress {
  readonly personId: string
  /** 43 characters that only this service can make. */
  readonly secret: string
}

/** The secret address at which a person's calendar program reads their tasks. Each person has at most one. */
export interface OwnCalendar {
  /** Replaces an earlier address, which is worthless from then on, and notifies the person. */
  create(change: OwnChange): Promise<CalendarAddress>
  /** Throws Problem `not_found` if there is none. */
  remove(change: OwnChange): Promise<void>
  /** The person whose address it is, if they may sign in. Notes that it was read. Undefined for any other address. */
  recognise(address: CalendarAddress): Promise<PersonActor | undefined>
}

interface CalendarNeeds extends Pick<OwnNeeds, 'database'> {
  readonly encryption: Pick<Encryption, 'mac'>
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly changes: Pick<CredentialChanges, 'notify'>
}

export function createOwnCalendar({ database, encryption, audit, changes }: CalendarNeeds): OwnCalendar {
  const macOf = (personId: string, id: string): Buffer => encryption.mac(JSON.stringify(['calendar', personId, id]))

  return Object.freeze<OwnCalendar>({
    create: ({ session, by }) =>
      database.transaction(async (tx) => {
        // A session that ends at this moment leaves no address.
        const person = await lockSignedIn(tx, session)
        if (person === undefined || !(await store.holdSession(tx, session.id)))
          throw new Problem('not_signed_in', 'Sign in first: your session has ended.')
        const id = randomUUIDv7()
        await store.replaceCalendar(tx, { personId: person.id, id })
        await audit.recordWithin(tx, [
          { ...by, action: 'calendar_created', outcome: 'allowed', noun: 'person', nounId: person.id },
        ])
        await changes.notify(tx, { person, notice: { what: 'calendar_created' } })
        return { personId: person.id, secret: macOf(person.id, id).toString('base64url') }
      }),
    remove: ({ session, by }) =>
      database.transaction(async (tx) => {
        const { id } = session.person
        if (!(await store.deleteCalendar(tx, id))) throw new Problem('not_found', 'Your calendar has no address.')
        await audit.recordWithin(tx, [
          { ...by, action: 'calendar_removed', outcome: 'allowed', noun: 'person', nounId: id },
        ])
      }),
    async recognise({ personId, secret }) {
      const found = isUuid(personId) ? await store.readCalendar(database, personId) : undefined
      if (found === undefined) return undefined
      const [mac, given] = [macOf(found.personId, found.id), Buffer.from(secret, 'base64url')]
      if (mac.length !== given.length || !timingSafeEqual(mac, given)) return undefined
      await store.noteCalendarRead(database, found.personId)
      return personActor({ id: found.personId, role: found.role })
    },
  })
}
