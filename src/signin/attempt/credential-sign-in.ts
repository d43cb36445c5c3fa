import { Problem } from '../../platform/problems.ts'
import { maxTries } from './binding.ts'
import { newSecret } from '../session/cookies.ts'
import type { GateResult } from '../gate.ts'
import type { Challenge, CredentialMethod } from '../methods/method.ts'
import { safeReturn } from './return-to.ts'
import { notUsable, type SignInParts } from './steps.ts'
import type { Visitor } from '../visitor/visitor.ts'
import { countTries } from './wrong-code.ts'

interface BegunCredential {
  /** Names the attempt in the submission. Works only with the cookie. */
  readonly attempt: string
  readonly challenge: Challenge['challenge']
  readonly cookie: string
}

export interface CredentialSignIn {
  /** Throws Problem `not_found`, `too_many_sign_ins`. */
  beginCredential(
    method: string,
    visitor: Visitor,
    request: { readonly input: unknown; readonly returnTo: unknown },
  ): Promise<BegunCredential>
  /** Throws Problem `sign_in_failed`, `sign_in_refused`, `too_many_sign_ins`. */
  completeCredential(attempt: string, visitor: Visitor, input: unknown): Promise<GateResult>
}

interface Needs extends SignInParts {
  readonly methods: readonly CredentialMethod[]
}

export function createCredentialSignIn({ methods, attempts, gate, steps }: Needs): CredentialSignIn {
  const find = (id: string) => methods.find((method) => method.id === id)

  return {
    beginCredential: (id, visitor, { input, returnTo }) =>
      steps.begin(visitor, async (details) => {
        const method = find(id)
        if (method === undefined) throw new Problem('not_found', 'No such sign-in method. Choose one at /signin.')
        details.method = id
        const attempt = newSecret()
        const { data, challenge } = await method.begin(input, visitor, attempt)
        const { cookies } = visitor
        const cookie = await attempts.begin({
          state: attempt,
          method: id,
          data,
          returnTo: safeReturn(returnTo),
          cookies,
        })
        return { attempt, challenge, cookie }
      }),
    completeCredential: (state, visitor, input) =>
      steps.complete(visitor, async (details) => {
        const attempt = await attempts.try(state, visitor.cookies)
        if (attempt === undefined) {
          const { why, method } = await attempts.explain(state, visitor.cookies)
          Object.assign(details, { why, ...(method !== undefined && { method }) })
          throw notUsable(why)
        }
        details.method = attempt.method
        const method = find(attempt.method)
        if (method === undefined) throw notUsable()
        const tries = { most: maxTries, left: attempt.triesLeft }
        const proof = await countTries(tries, () => method.complete(input, { data: attempt.data, visitor }))
        if (!(await attempts.finish(attempt, 'begun'))) throw notUsable()
        return gate.admit(proof, attempt, visitor)
      }),
  }
}
