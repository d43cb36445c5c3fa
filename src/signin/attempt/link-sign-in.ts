import { Problem } from '../../platform/problems.ts'
import type { GateResult } from '../gate.ts'
import type { EmailLinkMethod } from '../methods/email-link/email-link.ts'
import { notUsable, type SignInParts } from './steps.ts'
import type { Visitor } from '../visitor/visitor.ts'

/** The data of the link page. */
export interface LinkSummary {
  /** Whether this browser requested the link. */
  readonly isOwnBrowser: boolean
  readonly address: string
  readonly device: string
}

export interface LinkSignIn {
  /** Consumes nothing, because mail scanners open links and run their scripts. Throws Problem `sign_in_failed`. */
  inspectLink(token: string, visitor: Visitor): Promise<LinkSummary>
  /**
   * Signs in this browser and no other. Without `isConfirmed` only the browser that requested the link is accepted; the
   * link stays usable otherwise. Throws Problem `sign_in_failed`, `sign_in_refused`, `too_many_sign_ins`, `not_found`.
   */
  completeLink(token: string, visitor: Visitor, isConfirmed: boolean): Promise<GateResult>
}

interface Needs extends SignInParts {
  /** Undefined if the configuration does not allow sign-in links. */
  readonly emailLink: EmailLinkMethod | undefined
}

export function createLinkSignIn({ emailLink, attempts, gate, steps }: Needs): LinkSignIn {
  function required(): EmailLinkMethod {
    if (emailLink !== undefined) return emailLink
    throw new Problem('not_found', 'This service does not use sign-in links. Choose another way to sign in at /signin.')
  }

  return {
    inspectLink: (token, visitor) =>
      steps.complete(visitor, async (details) => {
        details.method = required().id
        const { stateHash, address, device } = await required().find(token)
        return { isOwnBrowser: await attempts.isOwn(stateHash, visitor.cookies), address, device }
      }),
    completeLink: (token, visitor, isConfirmed) =>
      steps.complete(visitor, async (details) => {
        details.method = required().id
        const { stateHash } = await required().find(token)
        if (!isConfirmed && !(await attempts.isOwn(stateHash, visitor.cookies))) throw otherBrowser()
        const proof = await required().use(token)
        const attempt = await attempts.claim(stateHash)
        if (attempt === undefined) throw notUsable()
        return gate.admit(proof, attempt, visitor)
      }),
  }
}

function otherBrowser(): Problem {
  return new Problem(
    'sign_in_failed',
    'This link was requested in another browser. Enter the code there, or confirm that you want to sign in here.',
  )
}
