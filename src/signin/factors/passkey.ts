import type { Queryable } from '../../platform/database/database.ts'
import type { SecondFactor } from '../methods/method.ts'
import type { Passkeys } from '../passkeys/passkeys.ts'
import { deletePasskeys } from '../passkeys/passkeys-store.ts'

/** A passkey after another method. Possession is enough. */
export function createPasskeyFactor(passkeys: Passkeys): SecondFactor {
  return Object.freeze<SecondFactor>({
    id: 'passkey',
    name: 'Passkey',
    isSetUp: async (personId: string, within?: Queryable) => (await passkeys.of(personId, within)).length > 0,
    begin: (personId) => passkeys.beginAssertion(personId),
    async complete(input, { personId, data }) {
      await passkeys.assert(input, data, personId)
    },
    enrol: {
      changes: { added: 'passkey_added', removed: 'passkey_removed' },
      begin: (person) => passkeys.beginRegistration(person),
      complete: (tx, input, begun) => passkeys.register(tx, input, begun),
      remove: async (tx, personId) => (await deletePasskeys(tx, { personId })) > 0,
    },
  })
}
