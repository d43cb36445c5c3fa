import { Problem } from '../platform/problems.ts'
import type { PreparedStatement, RowsOf } from '../platform/database/pipeline.ts'
import type { Audit, AuditEntry } from './audit/audit.ts'
import type { Visit } from './actor.ts'
import { roleOf } from './policy.ts'
import type { PortalDatabase } from './portal/portal.ts'

/** An action as the audit log names it. */
export type Deed = Pick<AuditEntry, 'action' | 'clientId' | 'noun' | 'nounId' | 'details'>

/** Access to client records, on behalf of an actor and with an audit event for each action. */
export interface RecordAccess {
  /** Runs the statements as one transaction of the actor; see `PortalDatabase`. */
  as<const Statements extends readonly PreparedStatement[]>(
    visit: Visit,
    statements: Statements,
  ): Promise<RowsOf<Statements>>
  /** Records that the action was performed. Await it before you send the response. */
  note(visit: Visit, deed: Deed): Promise<void>
  /**
   * Records that the action was refused, and throws Problem. A consultant gets `forbidden`, whether or not the record
   * exists, so that the response does not reveal which ids do. A partner gets `not_found`.
   */
  refuse(visit: Visit, deed: Deed): Promise<never>
  /** Records that the role does not permit the action, and throws Problem `forbidden` with the reason. */
  forbid(visit: Visit, deed: Deed, reason: string, field?: string): Promise<never>
  /** Records that the action was refused for another reason than permissions, and throws `problem`. */
  decline(visit: Visit, deed: Deed, problem: Problem): Promise<never>
}

export function createAccess({
  portal,
  audit,
}: {
  portal: PortalDatabase
  audit: Pick<Audit, 'record'>
}): RecordAccess {
  async function decline(visit: Visit, deed: Deed, problem: Problem): Promise<never> {
    await audit.record({ ...entry(visit, deed), outcome: 'refused' })
    throw problem
  }

  return Object.freeze({
    as: (visit, statements) => portal.as(visit.actor, statements),
    note: (visit: Visit, deed: Deed) => audit.record({ ...entry(visit, deed), outcome: 'allowed' }),
    refuse: (visit: Visit, deed: Deed) =>
      roleOf(visit.actor) === 'partner'
        ? decline(visit, { ...denied(deed), action: 'record_not_found' }, notFound())
        : decline(visit, denied(deed), new Problem('forbidden', hidden)),
    forbid: (visit: Visit, deed: Deed, reason: string, field?: string) =>
      decline(visit, denied(deed), new Problem('forbidden', reason, { ...(field !== undefined && { field }) })),
    decline,
  } satisfies RecordAccess)
}

function entry({ actor, requestId, address }: Visit, deed: Deed) {
  return { ...deed, actor, requestId, address }
}

function notFound(): Problem {
  return new Problem('not_found', 'No record exists at this URL: it never existed, or it was deleted.')
}

const hidden = 'You do not have access to this record, or it does not exist. A partner can assign the client to you.'

function denied(deed: Deed): Deed {
  return { ...deed, action: 'access_denied', details: { ...deed.details, tried: deed.action } }
}
