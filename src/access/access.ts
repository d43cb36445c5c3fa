import { Problem } from '../platform/problems.ts'
import type { PreparedStatement, RowsOf } from '../platform/database/pipeline.ts'
import type { Audit, AuditEntry } from './audit/audit.ts'
import type { Visit } from './actor.ts'
import { roleOf } from './policy.ts'
import type { PortalDatabase } from './portal/portal.ts'

/** No client stays assigned to a deleted person: assignments and the deletion wait for each other. */
export { lockAssignments, preventAssignments } from './assignment-lock-store.ts'

export { readGrants } from './grants-store.ts'

/** An action as the audit log names it. */
export type AuditedAction = Pick<AuditEntry, 'action' | 'clientId' | 'noun' | 'nounId' | 'details'>

/** Access to client records, on behalf of an actor and with an audit event for each action. */
export interface RecordAccess {
  /** Runs the statements as one transaction of the actor; see `PortalDatabase`. */
  as<const Statements extends readonly PreparedStatement[]>(
    visit: Visit,
    statements: Statements,
  ): Promise<RowsOf<Statements>>
  /** Records that the action was performed. Await it before you send the response. */
  note(visit: Visit, audited: AuditedAction): Promise<void>
  /**
   * Records that the action was refused, and throws Problem. A consultant gets `forbidden`, whether or not the record
   * exists, so that the response does not reveal which ids do. A partner gets `not_found`.
   */
  refuse(visit: Visit, audited: AuditedAction): Promise<never>
  /** Records that the role does not permit the action, and throws Problem `forbidden` with the reason. */
  forbid(visit: Visit, audited: AuditedAction, reason: string, field?: string): Promise<never>
  /** Records that the action was refused for another reason than permissions, and throws `problem`. */
  decline(visit: Visit, audited: AuditedAction, problem: Problem): Promise<never>
}

export function createAccess({
  portal,
  audit,
}: {
  portal: PortalDatabase
  audit: Pick<Audit, 'record'>
}): RecordAccess {
  async function decline(visit: Visit, audited: AuditedAction, problem: Problem): Promise<never> {
    await audit.record({ ...entry(visit, audited), outcome: 'refused' })
    throw problem
  }

  return Object.freeze<RecordAccess>({
    as: (visit, statements) => portal.as(visit.actor, statements),
    note: (visit, audited) => audit.record({ ...entry(visit, audited), outcome: 'allowed' }),
    refuse: (visit, audited) =>
      roleOf(visit.actor) === 'partner'
        ? decline(visit, { ...denied(audited), action: 'record_not_found' }, notFound())
        : decline(visit, denied(audited), new Problem('forbidden', hidden)),
    forbid: (visit: Visit, audited: AuditedAction, reason: string, field?: string) =>
      decline(visit, denied(audited), new Problem('forbidden', reason, { ...(field !== undefined && { field }) })),
    decline,
  })
}

function entry({ actor, requestId, address }: Visit, audited: AuditedAction) {
  return { ...audited, actor, requestId, address }
}

function notFound(): Problem {
  return new Problem('not_found', 'No record exists at this URL: it never existed, or it was deleted.')
}

const hidden = 'You do not have access to this record, or it does not exist. A partner can assign the client to you.'

function denied(audited: AuditedAction): AuditedAction {
  return { ...audited, action: 'access_denied', details: { ...audited.details, tried: audited.action } }
}
