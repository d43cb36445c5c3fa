import { personActor } from '../access/actor.ts'
import type { PersonSummary } from '../people/person.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { Problem } from '../platform/problems.ts'
import type { Attempts, BegunAttempt, ProvenAttempt } from './attempt/attempts.ts'
import type { CredentialChanges } from './credential-change.ts'
import type { FactorPolicy } from './factor-policy.ts'
import type { KnownBrowsers } from './visitor/known-browsers.ts'
import type { KnownNetworks } from './visitor/known-networks.ts'
import type { Proof } from './methods/method.ts'
import { openProof, sealProof, type ProvenSignIn } from './attempt/sealed-proof.ts'
import type { Sessions } from './session/sessions.ts'
import type { SignUp } from './sign-up.ts'
import type { UsableMethods } from './usable-methods.ts'
import type { Visitor } from './visitor/visitor.ts'

/** Where the browser goes next. */
export interface GateResult {
  readonly returnTo: string
  /** The Set-Cookie texts of the new session or, if a second factor is due, of the proven attempt. */
  readonly cookies?: readonly string[]
}

/** The only place where sessions start. */
export interface Gate {
  /** Every method ends here. Throws Problem `sign_in_refused`. */
  admit(this: void, proof: Proof, attempt: BegunAttempt, visitor: Visitor): Promise<GateResult>
  /** Starts the session of a proven attempt whose second factor has been passed. */
  admitProven(this: void, attempt: ProvenAttempt, factor: string, passed: PassedFactor): Promise<GateResult>
}

interface PassedFactor {
  readonly visitor: Visitor
  /** Runs in the transaction that starts the session. Throws Problem if another request, or a change, was faster. */
  readonly finish?: (tx: Queryable) => Promise<void>
}

interface GateNeeds {
  readonly attempts: Pick<Attempts, 'prove'>
  readonly signUp: SignUp
  readonly sessions: Pick<Sessions, 'start' | 'cookie'>
  readonly policy: FactorPolicy
  readonly encryption: Encryption
  readonly changes: Pick<CredentialChanges, 'concludeAddress' | 'notify'>
  readonly usable: UsableMethods
  readonly knownNetworks: Pick<KnownNetworks, 'remember'>
  readonly knownBrowsers: KnownBrowsers
}

interface Start {
  readonly method: string
  readonly visitor: Visitor
  readonly provenAt?: Date | null
  readonly confirm?: ((tx: Queryable) => Promise<void>) | undefined
}

/** The page on which a pending second factor is given. */
const factorPage = '/signin'

export function createGate({
  attempts,
  signUp,
  sessions,
  policy,
  encryption,
  changes,
  knownNetworks,
  knownBrowsers,
  usable,
}: GateNeeds): Gate {
  async function start(
    proven: ProvenSignIn,
    { method, visitor, provenAt = new Date(), confirm }: Start,
  ): Promise<string[]> {
    const { personId, provider } = proven
    const { device, network, cookies, requestId, address } = visitor
    const browser: string[] = []
    const { value } = await sessions.start({
      personId,
      method,
      factors: proven.factors,
      provenAt,
      device,
      network,
      ...(provider && {
        provider: {
          id: method,
          issuer: provider.issuer,
          subject: provider.subject,
          sid: provider.sid,
          idToken: encryption.encrypt(provider.idToken, tokenContext(personId)),
        },
      }),
      replaces: cookies,
      request: { requestId, address },
      async confirm(tx) {
        await confirm?.(tx)
        await knownNetworks.remember(tx, personId, address)
        browser.push(await knownBrowsers.welcome(tx, personId, visitor))
      },
    })
    return [sessions.cookie(value), ...browser]
  }

  /**
   * When the person proved who they are; null if that is unknown. A provider that was told to have them sign in again, and does
   * not state when they did, is believed only if they have nothing of their own to confirm it with.
   */
  async function timeOf({ elsewhere }: Proof, person: Pick<PersonSummary, 'id' | 'email'>): Promise<Date | null> {
    if (elsewhere === undefined) return new Date()
    if (elsewhere.at !== undefined || !elsewhere.isAgain) return elsewhere.at ?? null
    const methods = await usable.of(person)
    const hasOwn = methods.some(({ kind }) => kind === 'credential') || (await policy.hasFactor(person.id))
    return hasOwn ? null : new Date()
  }

  return Object.freeze<Gate>({
    async admit(proof, attempt, visitor) {
      const { requestId, address } = visitor
      const person = await signUp.admit(proof.claim, {
        addressChanged: (tx, before, email) => {
          const by = { actor: personActor(before), requestId, address }
          return changes.concludeAddress(tx, { person: before, by, address: email.address })
        },
        identityAdded: (tx, known) => changes.notify(tx, { person: known, notice: { what: 'sign_in_method_linked' } }),
      })
      const proven = {
        personId: person.id,
        factors: proof.factors,
        ...(proof.provider && { provider: proof.provider }),
      }
      // A change to the person's role, or to how they sign in, takes the same lock, and ends the sign-ins that exist by then.
      const confirmed = async (tx: Queryable): Promise<PersonSummary> => {
        const now = await signUp.claimant(tx, proof.claim)
        if (now?.id !== person.id || (await proof.stillHolds?.(tx)) === false) throw changedMeanwhile()
        return now
      }
      if (await policy.isDue(person, proof.factors)) {
        const confirm = async (tx: Queryable) => void (await confirmed(tx))
        const providerSid = proof.provider?.sid
        const { cookies } = visitor
        const { stateHash } = attempt
        const proofFor = (browserHash: Buffer) =>
          sealProof(encryption, proven, { personId: person.id, stateHash, browserHash })
        const by = { cookies, personId: person.id, proofFor, providerSid, confirm }
        return { returnTo: factorPage, cookies: [await attempts.prove(attempt, by)] }
      }
      const confirmAll = async (tx: Queryable) => {
        if (await policy.isDue(await confirmed(tx), proof.factors, tx)) throw changedMeanwhile()
      }
      const provenAt = await timeOf(proof, person)
      const started = await start(proven, { method: attempt.method, visitor, provenAt, confirm: confirmAll })
      return { returnTo: attempt.returnTo, cookies: started }
    },
    async admitProven(attempt, factor, { visitor, finish }) {
      const { method, returnTo } = attempt
      const proven = openProof(encryption, attempt)
      const cookies = await start(
        { ...proven, factors: [...proven.factors, factor] },
        { method, visitor, confirm: finish },
      )
      return { returnTo, cookies }
    },
  })
}

/** The person's role, or how they sign in, was changed after the proof and before the session. */
function changedMeanwhile(): Problem {
  return new Problem('sign_in_failed', 'Your role or your sign-in methods have changed in the meantime. Start again.')
}

/** Binds an encrypted ID token to its person. */
export const tokenContext = (personId: string): string => `id_token ${personId}`
