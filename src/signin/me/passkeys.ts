import { checkName } from '../../platform/text/name.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { Problem } from '../../platform/problems.ts'
import { deletePasskeys, renamePasskey } from '../passkeys/passkeys-store.ts'
import { changeOwn, settleRemoval, type OwnChange, type OwnNeeds } from './own.ts'

/** The passkeys of the person who is signed in. Both throw Problem `not_found`. */
export interface OwnPasskeys {
  /** Returns the name. Throws Problem `invalid_field`. */
  rename(change: OwnChange, id: string, name: string): Promise<string>
  /** Returns how many other sessions ended. Throws Problem `conflict` for the last way to sign in. */
  remove(change: OwnChange, id: string): Promise<number>
}

export function createOwnPasskeys(needs: OwnNeeds): OwnPasskeys {
  const { database, audit, usable } = needs
  return {
    rename: ({ session, by }, id, text) =>
      database.transaction(async (tx) => {
        const name = checkName(text)
        const isKnown = isUuid(id) && (await renamePasskey(tx, { id, personId: session.person.id }, name))
        if (!isKnown) throw unknownPasskey()
        const about = { outcome: 'allowed', noun: 'passkey', nounId: id } as const
        await audit.recordWithin(tx, [{ ...by, action: 'passkey_renamed', ...about }])
        return name
      }),
    remove: (change, id) =>
      changeOwn(needs, change, async (tx, person) => {
        const count = isUuid(id) ? await deletePasskeys(tx, { id, personId: person.id }) : 0
        if (count === 0) throw unknownPasskey()
        await usable.requireOne(tx, person)
        await settleRemoval(needs, tx, person)
        return { action: 'passkey_removed', details: { passkey: id }, notice: { what: 'passkey_removed' } }
      }),
  }
}

function unknownPasskey(): Problem {
  return new Problem('not_found', 'You have no such passkey. GET /me lists yours.')
}
