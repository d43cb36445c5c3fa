import { Problem } from '../platform/problems.ts'
import { sameOrigin, signedIn, type Guard } from '../signin/guard.ts'
import type { Sessions } from '../signin/sessions.ts'
import type { Audit } from './audit.ts'
import { may, type Action, type Resource } from './policy.ts'
import { visitOf } from './visits.ts'

interface PermittedNeeds {
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/**
 * The hooks of a route whose permission depends on the role alone: the request comes from a page of this service, from
 * someone who is signed in, and the policy permits the action. A refusal is in the audit log. Throws Problem `forbidden`,
 * the same whatever the address names, so that it does not reveal what exists.
 */
export function permitted({ sessions, audit, baseUrl }: PermittedNeeds, action: Action, resource: Resource): Guard[] {
  return [sameOrigin(baseUrl), signedIn(sessions), byPolicy(audit, action, resource)]
}

function byPolicy(audit: Pick<Audit, 'record'>, action: Action, resource: Resource): Guard {
  return async (request) => {
    const visit = visitOf(request)
    if (may(visit.actor, action, resource)) return
    await audit.record({
      ...visit,
      action: 'access_denied',
      outcome: 'refused',
      noun: resource,
      details: { action },
    })
    throw new Problem('forbidden', 'Only partners of the firm may do this.')
  }
}
