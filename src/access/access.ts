import { Problem } from '../platform/problems.ts'
import type { PreparedStatement, RowsOf } from '../platform/database/pipeline.ts'
import type { Audit, AuditEntry } from './audit.ts'
import type { Visit } from './actor.ts'
import { roleOf } from './policy.ts'
import type { Portal } from './portal.ts'

/** An action, as the audit log names it. */
export type Deed = Pick<AuditEntry, 'action' | 'clientId' | 'noun' | 'nounId' | 'details'>

/** Records, reached by one visit. */
export interface Access {
  /** All statements as one transaction of that person; see Portal. */
  as<const Statements extends readonly PreparedStatement[]>(
    visit: Visit,
    statements: Statements,
  ): Promise<RowsOf<Statements>>
  /** Notes that it was done. The answer may leave only after this. */
  note(visit: Visit, deed: Deed): Promise<void>
  /**
   * Notes that it was refused and throws: for a consultant Problem `forbidden`, whether the record exists or not, so that
   * nobody learns which ids do; for a partner `not_found` (1-decisions, section 4.2).
   */
  refuse(visit: Visit, deed: Deed): Promise<never>
  /** Notes that it was refused and throws Problem `forbidden` with the reason: the role alone does not allow it. */
  forbid(visit: Visit, deed: Deed, reason: string, field?: string): Promise<never>
  /** Notes that it was refused for another reason than who it is, and throws that. */
  decline(visit: Visit, deed: Deed, problem: Problem): Promise<never>
}

export function createAccess({ portal, audit }: { portal: Portal; audit: Pick<Audit, 'record'> }): Access {
  async function decline(visit: Visit, deed: Deed, problem: Problem): Promise<never> {
    await audit.record({ ...entry(visit, deed), outcome: 'refused' })
    throw problem
  }

  return Object.freeze({
    as: (visit, statements) => portal.as(visit.actor, statements),
    note: (visit: Visit, deed: Deed) => audit.record({ ...entry(visit, deed), outcome: 'allowed' }),
    refuse: (visit: Visit, deed: Deed) =>
      decline(visit, denied(deed), roleOf(visit.actor) === 'partner' ? notFound() : new Problem('forbidden', hidden)),
    forbid: (visit: Visit, deed: Deed, reason: string, field?: string) =>
      decline(visit, denied(deed), new Problem('forbidden', reason, { ...(field !== undefined && { field }) })),
    decline,
  } satisfies Access)
}

function entry({ actor, requestId, address }: Visit, deed: Deed) {
  return { ...deed, actor, requestId, address }
}

function notFound(): Problem {
  return new Problem('not_found', 'No record is at this address: it was never made, or it was taken away.')
}

const hidden = 'You may not see this, or it does not exist. A partner can assign the client to you.'

function denied(deed: Deed): Deed {
  return { ...deed, action: 'access_denied', details: { ...deed.details, tried: deed.action } }
}
