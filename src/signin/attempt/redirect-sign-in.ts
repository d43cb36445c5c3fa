import { personActor } from '../../access/actor.ts'
import { Problem } from '../../platform/problems.ts'
import type { BegunAttempt, UnusableState } from './attempts.ts'
import { newSecret } from '../session/cookies.ts'
import type { GateResult } from '../gate.ts'
import type { BeginOptions, Proof, RedirectMethod } from '../methods/method.ts'
import type { OwnAccount } from '../me/account.ts'
import { requireRecent } from '../session/recent-sign-in.ts'
import { safeReturn } from './return-to.ts'
import { notUsable, type SignInParts, type StepDetails } from './steps.ts'
import type { Visitor } from '../visitor/visitor.ts'

interface RedirectRequest extends BeginOptions {
  readonly returnTo: unknown
  /** Gives the identity to this person, who is signed in, instead of signing in. */
  readonly linksTo?: string
}

export interface RedirectSignIn {
  /** Where the browser goes. Throws Problem `not_found`, `too_many_sign_ins`, `provider_failed`. */
  begin(method: string, visitor: Visitor, request: RedirectRequest): Promise<{ location: URL; cookie: string }>
  /**
   * Handles the callback. Without a cookie if the attempt cannot be used in a browser that is signed in, as when a page is
   * reloaded. Throws Problem.
   */
  complete(callback: URL, visitor: Visitor): Promise<GateResult>
}

interface Needs extends SignInParts {
  readonly methods: readonly RedirectMethod[]
  readonly own: Pick<OwnAccount, 'identities'>
}

export function createRedirectSignIn({
  methods,
  attempts,
  sessions,
  refusals,
  gate,
  steps,
  own,
}: Needs): RedirectSignIn {
  const find = (id: string) => methods.find((method) => method.id === id)

  /** Only in the session of the person who began it, which may have aged at the provider. */
  async function link({ claim }: Proof, attempt: BegunAttempt, visitor: Visitor): Promise<GateResult> {
    const session = await sessions.recognise(visitor.cookies)
    if (session === undefined || session.person.id !== attempt.linksTo || claim.by !== 'identity') throw notUsable()
    requireRecent(session, Date.now())
    const { requestId, address } = visitor
    const by = { actor: personActor(session.person), requestId, address }
    await own.identities.link({ session, by }, { issuer: claim.issuer, subject: claim.subject })
    return { returnTo: attempt.returnTo }
  }

  /** A new session counts as a recent sign-in, so a person who is signed in must prove who they are again to get one. */
  const isSignedIn = async ({ cookies }: Visitor) => (await sessions.recognise(cookies)) !== undefined

  /** A thrown Problem is recorded by `steps`; in a browser that is signed in, the row is written here. */
  async function refuse(unusable: UnusableState, visitor: Visitor, details: StepDetails): Promise<GateResult> {
    const { why, method, returnTo = '/' } = unusable
    Object.assign(details, { why, ...(method !== undefined && { method }) })
    if ((await sessions.recognise(visitor.cookies)) === undefined) throw notUsable(why)
    await refusals.record(visitor, { action: 'sign_in_failed', details: { ...details } })
    return { returnTo }
  }

  return {
    begin: (id, visitor, { returnTo, linksTo, again = false }) =>
      steps.begin(visitor, async (details) => {
        const method = find(id)
        if (method === undefined) throw new Problem('not_found', 'No such sign-in method. Choose one at /signin.')
        Object.assign(details, { method: id, issuer: method.issuer })
        const state = newSecret()
        const { location, data } = await method.begin(state, { again: again || (await isSignedIn(visitor)) })
        const attempt = { state, method: id, data, returnTo: safeReturn(returnTo), linksTo, cookies: visitor.cookies }
        return { location, cookie: await attempts.begin(attempt) }
      }),
    complete: (callback, visitor) =>
      steps.complete(visitor, async (details) => {
        const [state = '', ...others] = callback.searchParams.getAll('state')
        if (others.length > 0) return refuse({ why: 'unknown_state' }, visitor, details)
        const attempt = await attempts.use(state, visitor.cookies)
        if (attempt === undefined) {
          return refuse(await attempts.explain(state, visitor.cookies), visitor, details)
        }
        const method = find(attempt.method)
        if (method === undefined) throw notUsable()
        Object.assign(details, { method: method.id, issuer: method.issuer })
        const proof = await method.complete(callback, { state, data: attempt.data })
        if (proof.claim.by === 'identity') details.subject = proof.claim.subject
        return attempt.linksTo === null ? gate.admit(proof, attempt, visitor) : link(proof, attempt, visitor)
      }),
  }
}
