import type { Visit } from '../access/actor.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Mailer, MailMessage } from '../mail/mailer.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { Sessions } from './session/sessions.ts'

/** A change of a password, a factor or an address of a person. */
export interface CredentialChange {
  readonly person: { readonly id: string; readonly email: string | null }
  /** The audit action. */
  readonly action: string
  readonly details?: Readonly<Record<string, string>>
  /** What the person is notified of. */
  readonly notice: Extract<MailMessage, { template: 'account_changed' }>['values']
  /** The session that stays. */
  readonly exceptId?: string | undefined
  readonly by: Visit
}

/** The consequences of every change to how a person signs in. */
export interface CredentialChanges {
  /**
   * Within the transaction of the change: ends the person's other sessions and what they have not completed, writes the audit row, and queues a mail to the person. Returns the number of sessions that ended.
   */
  conclude(this: void, tx: Queryable, change: CredentialChange): Promise<number>
  /** Only queues the mail: for a further way in, with which nobody has lost or gained a session. */
  notify(this: void, tx: Queryable, told: Pick<CredentialChange, 'person' | 'notice'>): Promise<void>
  /** The same as `conclude` for a new address. The mail goes to both addresses. */
  concludeAddress(this: void, tx: Queryable, change: NewAddress): Promise<void>
}

/** A person with the address before the change, and the new one. */
interface NewAddress extends Pick<CredentialChange, 'person' | 'by'> {
  readonly address: string
}

interface ChangeNeeds {
  readonly sessions: Pick<Sessions, 'endWithin'>
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly mailer: Mailer | undefined
}

export function createCredentialChanges({ sessions, audit, mailer }: ChangeNeeds): CredentialChanges {
  async function notify(tx: Queryable, { person, notice }: Pick<CredentialChange, 'person' | 'notice'>) {
    if (person.email === null) return
    await mailer?.send(tx, { to: person.email, template: 'account_changed', values: notice })
  }

  async function conclude(tx: Queryable, { person, action, details, notice, exceptId, by }: CredentialChange) {
    const ended = await sessions.endWithin(tx, { personId: person.id, exceptId }, by)
    await audit.recordWithin(tx, [
      { ...by, action, outcome: 'allowed', noun: 'person', nounId: person.id, ...(details && { details }) },
    ])
    await notify(tx, { person, notice })
    return ended.length
  }

  return Object.freeze<CredentialChanges>({
    conclude,
    notify,
    async concludeAddress(tx, { person, by, address }) {
      const notice = { what: 'email_changed' } as const
      await conclude(tx, { person, action: 'email_changed', notice, by })
      await mailer?.send(tx, { to: address, template: 'account_changed', values: notice })
    },
  })
}
