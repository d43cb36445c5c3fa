import type { Queryable } from '../../../platform/database/database.ts'
import type { MethodDefinition } from '../definition.ts'
import type { CredentialMethod, SecondFactor } from '../method.ts'
import { openPasskeys, type Passkeys } from './passkeys.ts'
import { deletePasskeys } from './store.ts'

/** A key that an authenticator keeps, alone or after another method. */
export const passkey: MethodDefinition = {
  id: 'passkey',
  kind: 'credential',
  tables: { ofPeople: ['passkey_owner'], ofFactors: ['passkey'] },
  async openFactor(needs) {
    const passkeys = openPasskeys(needs)
    return passkeys && createPasskeyFactor(passkeys)
  },
  async open(needs) {
    const passkeys = openPasskeys(needs)
    const { registerPasskeys } = await import('./routes.ts')
    return {
      methods: passkeys ? [createPasskeyMethod(passkeys)] : [],
      addRoutes: (server) => registerPasskeys(server, needs),
    }
  },
}

/** Signing in with a passkey, without a name. If it verified the person, it counts as two factors. */
function createPasskeyMethod(passkeys: Passkeys): CredentialMethod {
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
        stillHolds: async (tx: Queryable) => (await passkeys.of(personId, tx)).some((each) => each.id === id),
      }
    },
    isUsableBy: async ({ id }, database) => (await passkeys.of(id, database)).length > 0,
    mustBeSetUp: true,
  })
}

/** A passkey after another method. Possession is enough. */
function createPasskeyFactor(passkeys: Passkeys): SecondFactor {
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
