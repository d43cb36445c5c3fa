import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { byService } from '../../../access/actor.ts'
import type { Audit } from '../../../access/audit/audit.ts'
import type { Person } from '../../../people/person.ts'
import type { Config } from '../../../platform/config/config.ts'
import type { Database, Queryable } from '../../../platform/database/database.ts'
import { Problem } from '../../../platform/problems.ts'
import type { AttemptData, BegunEnrolment, Challenge } from '../method.ts'
import { createCeremonies } from './ceremonies.ts'
import * as store from './store.ts'
import { readAssertion, readRegistration, type AssertionResponse } from './responses.ts'
import { passkeySiteOf, type PasskeySite } from './site.ts'

/** Passkeys: WebAuthn credentials that authenticators keep. They sign in, and they are a second factor. */
export interface Passkeys {
  /** The person's passkeys for this host, oldest first. */
  of(personId: string, within?: Queryable): Promise<store.PasskeyRow[]>
  beginRegistration(person: Pick<Person, 'id' | 'name' | 'email'>): Promise<Challenge>
  /** Throws Problem `sign_in_failed` or `conflict`. */
  register(tx: Queryable, input: unknown, begun: BegunEnrolment): Promise<void>
  /** Without a person, for any passkey that the authenticator finds. */
  beginAssertion(personId?: string): Promise<Challenge>
  /**
   * The passkey that signed the challenge. Throws Problem `sign_in_failed`, also
   * if it belongs to another person than the expected one.
   */
  assert(input: unknown, data: AttemptData, expected?: string): Promise<AssertedPasskey>
}

/** A passkey that signed a challenge. */
interface AssertedPasskey {
  readonly id: string
  readonly personId: string
  /** Whether the authenticator verified the person. */
  readonly isVerified: boolean
}

interface Needs {
  readonly site: PasskeySite
  readonly database: Database
  readonly audit: Pick<Audit, 'record'>
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

/** The longest that WebAuthn allows. It says nothing about the person. */
const handleBytes = 64

/** Undefined if they are switched off or cannot work at `base_url`. */
export function openPasskeys({ config, ...needs }: OpenNeeds): Passkeys | undefined {
  const site = config.sign_in.passkey ? passkeySiteOf(config.base_url) : undefined
  return site && createPasskeys({ ...needs, site })
}

interface OpenNeeds extends Omit<Needs, 'site'> {
  readonly config: Pick<Config, 'sign_in' | 'base_url'>
}

function createPasskeys({ site, database, audit, clock = Date.now }: Needs): Passkeys {
  const { rpId } = site
  const ceremonies = createCeremonies(site, clock)
  const of = (personId: string, within: Queryable = database) => store.readPasskeysOf(within, personId, rpId)

  /** A counter that does not increase means that the passkey was copied. */
  async function refuseCopy({ id, personId, counter }: store.PasskeyRow, received: number): Promise<never> {
    const details = { of: personId, stored: String(counter), received: String(received) }
    const about = { noun: 'passkey', nounId: id, details }
    await audit.record({ ...byService, action: 'passkey_counter_refused', outcome: 'refused', ...about })
    throw notAccepted()
  }

  return Object.freeze<Passkeys>({
    of,
    async beginRegistration(person) {
      const handle = await store.ensureHandle(database, person.id, randomBytes(handleBytes))
      return ceremonies.beginRegistration({ ...person, handle }, await of(person.id))
    },
    async register(tx, input, { personId, data, name }) {
      const response = readRegistration(input)
      if (response === undefined) throw notAccepted()
      const registered = await ceremonies.completeRegistration(response, data).catch(refuse)
      const { transports = [] } = response.response
      const times = { createdAt: new Date(clock()) }
      const passkey = { id: randomUUIDv7(), personId, rpId, ...registered, transports, name, ...times }
      if (await store.insertPasskey(tx, passkey)) return
      throw new Problem('conflict', 'This passkey is registered already.')
    },
    beginAssertion: async (personId?: string) =>
      ceremonies.beginAssertion(personId === undefined ? undefined : await of(personId)),
    async assert(input: unknown, data: AttemptData, expected?: string) {
      const response = readAssertion(input)
      if (response === undefined) throw notAccepted()
      const passkey = await store.readPasskey(database, Buffer.from(response.id, 'base64url'), rpId)
      if (passkey === undefined || !isOfOwner(response, passkey, expected)) throw notAccepted()
      const { counter, isVerified } = await ceremonies.completeAssertion(response, data, passkey).catch(refuse)
      const isCounted = await store.usePasskey(database, passkey.id, { counter, at: new Date(clock()) })
      if (!isCounted) await refuseCopy(passkey, counter)
      return { id: passkey.id, personId: passkey.personId, isVerified }
    },
  })
}

/** The user handle is required unless the person is known already (WebAuthn Level 3 section 7.2, step 6). */
function isOfOwner(
  { response }: AssertionResponse,
  { personId, handle }: store.PasskeyRow,
  expected?: string,
): boolean {
  const { userHandle } = response
  if (expected !== undefined && expected !== personId) return false
  if (userHandle === undefined || userHandle === null) return expected !== undefined
  return Buffer.from(userHandle, 'base64url').equals(handle)
}

function refuse(cause: unknown): never {
  throw notAccepted(cause)
}

/** The same for every reason. The log has the cause. */
function notAccepted(cause?: unknown): Problem {
  return new Problem('sign_in_failed', 'This passkey was not accepted. Try again, or choose another way.', { cause })
}
