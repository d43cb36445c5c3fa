import type { FastifyRequest } from 'fastify'
import type { Queryable } from '../platform/database/database.ts'
import type { Server } from '../platform/http/server.ts'
import { Problem } from '../platform/problems.ts'
import { sameOrigin, signedIn, type Guard } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import type { Visit } from './actor.ts'
import type { Audit } from './audit/audit.ts'
import { isGranted } from './grants-store.ts'
import { may, mayOnSome, type Action, type Resource } from './policy.ts'
import { visitOf } from './visits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the policy has permitted, on routes behind `permitted`. */
    permission: Permission | undefined
  }
}

interface Permission {
  readonly action: Action
  readonly resource: Resource
}

/**
 * Must run once, before the first route behind `permitted`. A request for an object that does not exist leaves an audit row
 * before its response is sent, whatever the handler does.
 */
export function recordMissing(server: Server, audit: Pick<Audit, 'record'>): void {
  server.decorateRequest('permission', undefined)
  server.addHook('onSend', async (request) => {
    const { permission, refusedAs, params } = request
    if (permission === undefined || refusedAs !== 'not_found') return
    const { action, resource } = permission
    await audit.record({
      ...visitOf(request),
      action: 'record_not_found',
      outcome: 'refused',
      noun: resource,
      nounId: idIn(params),
      details: { action },
    })
  })
}

/** The first parameter of a URL names the object. */
function idIn(params: unknown): string | undefined {
  const values: unknown[] = Object.values(params ?? {})
  const [id] = values
  return typeof id === 'string' ? id : undefined
}

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
export function permitted(needs: PermittedNeeds, action: Action, resource: Resource): Guard[] {
  return guarded(needs, { action, resource }, ({ actor }) => may(actor, action, resource))
}

/** The same for a route that lists objects: the policy permits the action on some of them, and the handler finds those. */
export function permittedOnSome(needs: PermittedNeeds, action: Action, resource: Resource): Guard[] {
  return guarded(needs, { action, resource }, ({ actor }) => mayOnSome(actor, action, resource))
}

/** The same for a route below an account, which a developer may have been granted. Its first parameter names the account. */
export function permittedOnAccount(
  needs: PermittedNeeds & { readonly database: Queryable },
  action: Action,
  resource: Resource,
): Guard[] {
  const permits = async ({ actor }: Visit, { params }: FastifyRequest) =>
    may(actor, action, resource) ||
    (actor.kind === 'person' &&
      mayOnSome(actor, action, resource) &&
      may(actor, action, resource, { isGranted: await isGranted(needs.database, actor.id, idIn(params) ?? '') }))
  return guarded(needs, { action, resource }, permits)
}

function guarded(
  { sessions, audit, baseUrl }: PermittedNeeds,
  permission: Permission,
  permits: (visit: Visit, request: FastifyRequest) => boolean | Promise<boolean>,
): Guard[] {
  const { action, resource } = permission
  const byPolicy: Guard = async (request) => {
    const visit = visitOf(request)
    if (!(await permits(visit, request))) {
      await refuse(audit, visit, permission, mayOnSome(visit.actor, action, resource) ? notGranted : forPartners)
    }
    request.permission = permission
  }
  return [sameOrigin(baseUrl), signedIn(sessions), byPolicy]
}

const forPartners = 'Only partners of the firm may do this.'
const notGranted =
  'You do not have access to this account, or it does not exist. A partner can grant you access to the account.'

/**
 * Refuses people whose role has no records, whatever the address names. The handlers of other people decide about the record. A
 * refusal is in the audit log. Throws Problem `forbidden`.
 */
export function onRecords(audit: Pick<Audit, 'record'>): Guard {
  return async (request) => {
    const visit = visitOf(request)
    const permission = { action: 'list', resource: 'client' } as const
    if (mayOnSome(visit.actor, permission.action, permission.resource)) return
    await refuse(audit, visit, permission, 'Your role has no access to clients and their records.')
  }
}

async function refuse(
  audit: Pick<Audit, 'record'>,
  visit: Visit,
  { action, resource }: Permission,
  reason: string,
): Promise<never> {
  await audit.record({ ...visit, action: 'access_denied', outcome: 'refused', noun: resource, details: { action } })
  throw new Problem('forbidden', reason)
}
