import type { Audit } from '../access/audit.ts'
import type { PersonSummary } from '../people/people.ts'
import type { Config } from '../platform/config/config.ts'
import { Problem } from '../platform/problems.ts'
import type { Attempts } from './attempts.ts'
import type { SignInLimits } from './limits.ts'
import type { Method, Proof } from './methods/method.ts'
import { safeReturn } from './return-to.ts'
import type { Sessions } from './sessions.ts'
import type { SignUp } from './sign-up.ts'

/** What a sign-in knows of the browser that it is in. */
export interface Visitor {
  readonly cookies: string | undefined
  readonly device: string
  readonly network: string
  /** For the audit log. */
  readonly address: string
  readonly requestId: string
}

/**
 * The states of a visitor (section 3 of the specification): anonymous → at the provider → shown to be a person → known,
 * with a second factor between the last two where one is due. A session begins at the last step and nowhere before.
 */
export interface SignIn {
  /** The ways to sign in, in the order of the configuration. */
  readonly methods: readonly Method[]
  /** To the provider. Throws Problem `not_found` for one that there is not, `too_many_sign_ins`, `provider_failed`. */
  begin(provider: string, visitor: Visitor, returnTo: unknown): Promise<{ location: URL; cookie: string }>
  /** Back from it: with a cookie of a new session, or without one where there was a session already. Throws Problem. */
  complete(callback: URL, visitor: Visitor): Promise<{ returnTo: string; cookie?: string }>
}

interface SignInNeeds {
  readonly methods: readonly Method[]
  readonly attempts: Attempts
  readonly limits: SignInLimits
  readonly signUp: SignUp
  readonly sessions: Sessions
  readonly secondFactor: Config['sign_in']['second_factor']
  readonly audit: Pick<Audit, 'record'>
}

export function createSignIn(needs: SignInNeeds): SignIn {
  const { methods, attempts, limits } = needs
  const byId = new Map(methods.map((method) => [method.id, method]))

  return Object.freeze({
    methods,
    async begin(provider: string, { cookies, network }: Visitor, returnTo: unknown) {
      const method = byId.get(provider)
      if (method === undefined)
        throw new Problem('not_found', 'There is no such way to sign in. Choose one at /signin.')
      limits.begin(network)
      const attempt = await attempts.begin({ provider, returnTo: safeReturn(returnTo), cookies })
      return { location: await method.begin(attempt), cookie: attempt.cookie }
    },
    async complete(callback: URL, visitor: Visitor) {
      // Before the attempt is used: who waits and comes again with the same address is let in.
      limits.complete(visitor.network)
      const [state = '', ...others] = callback.searchParams.getAll('state')
      const attempt = others.length > 0 ? undefined : await attempts.use(state, visitor.cookies)
      if (attempt === undefined) return alreadySignedIn(needs, state, visitor)
      try {
        const proof = await methodOf(byId, attempt.provider).complete(callback, attempt)
        return { returnTo: attempt.returnTo, cookie: await admit(needs, proof, visitor) }
      } catch (error) {
        if (error instanceof Problem) await recordRefusal(needs, attempt.provider, visitor, error)
        throw error
      }
    },
  })
}

function methodOf(methods: ReadonlyMap<string, Method>, id: string): Method {
  const method = methods.get(id)
  if (method === undefined) throw notStartedHere()
  return method
}

/** A callback that is not to be used: a page reloaded, or another tab of somebody who is signed in. */
async function alreadySignedIn(
  { sessions, attempts }: SignInNeeds,
  state: string,
  { cookies }: Visitor,
): Promise<{ returnTo: string }> {
  if ((await sessions.recognise(cookies)) === undefined) throw notStartedHere()
  return { returnTo: (await attempts.returnOf(state, cookies)) ?? '/' }
}

function notStartedHere(): Problem {
  return new Problem(
    'sign_in_failed',
    'This sign-in was not started in this browser, took too long, or was completed before. Start again.',
  )
}

/** Every method ends here: whoever is let in, and owes no second factor, gets a session. Returns its cookie. */
async function admit(needs: SignInNeeds, proof: Proof, visitor: Visitor): Promise<string> {
  const { signUp, sessions, secondFactor } = needs
  const person = await signUp.admit(proof)
  if (isSecondFactorDue(secondFactor, person, proof.factors)) throw noSecondFactor()
  const { method, factors, issuer, subject, sid } = proof
  const { device, network, cookies, requestId, address } = visitor
  const { value } = await sessions.start({
    personId: person.id,
    method,
    factors,
    device,
    network,
    provider: { id: method, issuer, subject, sid },
    replaces: cookies,
    request: { requestId, address },
  })
  return sessions.cookie(value)
}

/** `optional` asks those who have set one up, which nobody can in this version. */
function isSecondFactorDue(
  policy: SignInNeeds['secondFactor'],
  { role }: PersonSummary,
  factors: readonly string[],
): boolean {
  if (factors.length > 1) return false
  return policy === 'required' || (policy === 'partners' && role === 'partner')
}

/** The state between proof and session has no way on in this version, so that nobody gets past it. */
function noSecondFactor(): Problem {
  return new Problem(
    'sign_in_refused',
    'A second factor is due, and none can be given here. Ask a partner of the firm.',
  )
}

async function recordRefusal(
  { audit, limits }: SignInNeeds,
  method: string,
  { requestId, address, network }: Visitor,
  { code }: Problem,
): Promise<void> {
  const unnoted = limits.note(network)
  if (unnoted === undefined) return
  await audit.record({
    actor: { kind: 'visitor' },
    action: 'sign_in_failed',
    outcome: 'refused',
    requestId,
    address,
    // How many of that network were refused since its last row and have none.
    details: { method, why: code, ...(unnoted > 0 && { more: String(unnoted) }) },
  })
}
