import type { Queryable } from '../../platform/database/database.ts'
import type { Passkeys } from '../passkeys/passkeys.ts'
import type { CredentialMethod } from './method.ts'

/** Signing in with a passkey, without a name. If it verified the person, it counts as two factors. */
export function createPasskeyMethod(passkeys: Passkeys): CredentialMethod {
  return Object.freeze<CredentialMethod>({
    kind: 'credential',
    id: 'passkey',
    name: 'Passkey',
    state: 'ready',
    fault: undefined,
    check: async () => 'ready' as const,
    begin: () => passkeys.beginAssertion(),
    async complete(input, { data }) {
      const { id, personId, isVerified } = await passkeys.assert(input, data)
      return {
        claim: { by: 'person', personId } as const,
        factors: ['passkey', ...(isVerified ? ['user_verification'] : [])],
        stillHolds: async (tx: Queryable) => (await passkeys.of(personId, tx)).some((passkey) => passkey.id === id),
      }
    },
    isUsableBy: async ({ id }, database) => (await passkeys.of(id, database)).length > 0,
  })
}
