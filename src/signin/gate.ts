import type { PersonSummary } from '../people/person.ts'
import type { Config } from '../platform/config/config.ts'
import type { Encryption } from '../platform/encryption.ts'
import { Problem } from '../platform/problems.ts'
import type { Attempts, BegunAttempt, ProvenAttempt } from './attempts.ts'
import type { Proof, SecondFactor } from './methods/method.ts'
import type { Sessions } from './sessions.ts'
import type { SignUp } from './sign-up.ts'
import type { Visitor } from './visitor.ts'

export type SecondFactorPolicy = Config['sign_in']['second_factor']

/** Where the browser goes next; with the cookie of a new session unless a second factor is due. */
export interface GateResult {
  readonly returnTo: string
  readonly cookie?: string
}

/** The only place where sessions start. */
export interface Gate {
  /** Every method ends here. Throws Problem `sign_in_refused`. */
  admit(this: void, proof: Proof, attempt: BegunAttempt, visitor: Visitor): Promise<GateResult>
  /** Starts the session of a proven attempt whose second factor has been passed. */
  admitProven(this: void, attempt: ProvenAttempt, factor: string, visitor: Visitor): Promise<GateResult>
}

interface GateNeeds {
  readonly attempts: Pick<Attempts, 'prove'>
  readonly signUp: SignUp
  readonly sessions: Pick<Sessions, 'start' | 'cookie'>
  readonly policy: SecondFactorPolicy
  readonly factors: readonly SecondFactor[]
  readonly encryption: Encryption
}

/** The page on which a pending second factor is given. */
const factorPage = '/signin'

export function createGate({ attempts, signUp, sessions, policy, factors, encryption }: GateNeeds): Gate {
  async function start(proven: Proven, method: string, visitor: Visitor): Promise<string> {
    const { personId, provider } = proven
    const { device, network, cookies, requestId, address } = visitor
    const { value } = await sessions.start({
      personId,
      method,
      factors: proven.factors,
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
    })
    return sessions.cookie(value)
  }

  return Object.freeze({
    async admit(proof: Proof, attempt: BegunAttempt, visitor: Visitor) {
      const person = await signUp.admit(proof.claim)
      const proven = {
        personId: person.id,
        factors: proof.factors,
        ...(proof.provider && { provider: proof.provider }),
      }
      if (!(await isFactorDue(person, proof.factors, policy, factors))) {
        return { returnTo: attempt.returnTo, cookie: await start(proven, attempt.method, visitor) }
      }
      const sealed = encryption.encrypt(JSON.stringify(proven), proofContext(person.id))
      await attempts.prove(attempt, { personId: person.id, proof: sealed })
      return { returnTo: factorPage }
    },
    async admitProven(attempt: ProvenAttempt, factor: string, visitor: Visitor) {
      const { personId, proof, method, returnTo } = attempt
      const text = encryption.decrypt(proof, proofContext(personId))
      const proven: unknown = text === undefined ? undefined : JSON.parse(text)
      if (!isProven(proven)) throw new Problem('sign_in_failed', 'This sign-in has expired. Start again.')
      const cookie = await start({ ...proven, factors: [...proven.factors, factor] }, method, visitor)
      return { returnTo, cookie }
    },
  } satisfies Gate)
}

/** What a session needs of a proof. It is stored encrypted while a second factor is due. */
interface Proven {
  readonly personId: string
  readonly factors: readonly string[]
  readonly provider?: Proof['provider']
}

/** Only this program encrypts proofs, so one field settles the rest. */
function isProven(value: unknown): value is Proven {
  return typeof value === 'object' && value !== null && 'personId' in value
}

/** Binds an encrypted ID token to its person. */
export const tokenContext = (personId: string): string => `id_token ${personId}`
const proofContext = (personId: string): string => `proof ${personId}`

/** Throws Problem `sign_in_refused` if the policy requires a factor and the person has set up none. */
async function isFactorDue(
  { id, role }: PersonSummary,
  shown: readonly string[],
  policy: SecondFactorPolicy,
  factors: readonly SecondFactor[],
): Promise<boolean> {
  if (policy === 'off' || shown.length > 1) return false
  const states = await Promise.all(factors.map((factor) => factor.isSetUp(id)))
  if (states.includes(true)) return true
  if (policy === 'optional' || (policy === 'partners' && role !== 'partner')) return false
  throw new Problem('sign_in_refused', 'You need a second factor and have none. Ask a partner of the firm.')
}
