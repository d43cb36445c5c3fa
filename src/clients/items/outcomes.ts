import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { may, roleOf, type Action } from '../../access/policy.ts'
import { codeOf } from '../../platform/database/failure.ts'
import { Problem } from '../../platform/problems.ts'
import { notApprovable } from '../letters/approval/approvals.ts'
import type * as store from './store.ts'
import type { ItemKind } from './kinds.ts'
import type { Item } from '../present.ts'

interface OutcomeNeeds {
  readonly access: RecordAccess
  readonly kind: ItemKind
  readonly present: (row: store.ItemJson) => Item
}

/** The results and the refusals of changes to items. */
export function createItemOutcomes({ access, kind, present }: OutcomeNeeds) {
  return { outcome, refused }

  /** The item after a change; throws the reason if nothing was changed. */
  async function outcome(
    visit: Visit,
    done: { audited: AuditedAction; action: Action; row: store.ItemRow | undefined; changed: boolean; restores?: true },
  ): Promise<Item> {
    const { row } = done
    if (!row || !may(visit.actor, done.action, kind.noun, { consultantId: row.consultant_id })) {
      return access.refuse(visit, done.audited)
    }
    if (!done.changed && row.status === 'archived') return access.decline(visit, done.audited, archived())
    if (row.item === null) return access.refuse(visit, done.audited)
    const item = present(row.item)
    if (done.changed) return item
    const isArchived = item.archived_at !== null && !done.restores
    return access.decline(visit, done.audited, isArchived ? archivedItem(kind) : stale(item))
  }

  /**
   * Handles the errors of refuse_excess(), touch_client(), keep_letter(), keep_entry(), keep_document() and keep_task(): the record is full,
   * the client left the scope, the letter has been sent or may not be approved, the entry is billed, the content is missing, or a task names someone or
   * something that the record does not have.
   */
  function refused(visit: Visit, done: AuditedAction) {
    return (error: unknown) => {
      switch (codeOf(error)) {
        case 'TG002':
          return access.decline(visit, done, full(kind))
        case 'TG003':
          return access.refuse(visit, done)
        case 'TG006':
          return access.decline(visit, done, closed(visit))
        case 'TG004':
          return access.decline(visit, done, sent(error))
        case 'TG007':
          return access.decline(visit, done, withoutContent())
        case 'TG008':
          return access.decline(visit, done, withoutTarget(error))
        case 'TG010':
          return access.decline(visit, done, notApprovable(error))
        default:
          throw error
      }
    }
  }
}

function full({ plural, pagedBy }: ItemKind): Problem {
  const limit = pagedBy
    ? `10 000 ${plural.replace('_', ' ')}${plural === 'documents' ? '' : ' besides those that are closed'}`
    : `1 000 ${plural} or 5 MB of their text`
  return new Problem('conflict', `The record is full: it can hold ${limit}. Archive some first.`)
}

function withoutContent(): Problem {
  const reason = 'The field digest must be that of a complete upload to this client, or of one of its documents.'
  return new Problem('invalid_field', reason, { field: 'digest' })
}

/** The field of a task that names no one, or nothing, that it can name. */
function withoutTarget(error: unknown): Problem {
  const isOwner = columnOf(error) === 'owner_id'
  const reason = isOwner
    ? 'The field owner_id must be the id of an active partner. Null: the consultant of the client.'
    : 'The field about must have the noun and the id of a note, dispute, letter, document or invoice of this client.'
  return new Problem('invalid_field', reason, { field: isOwner ? 'owner_id' : 'about', cause: error })
}

/** A consultant may not see what is billed. */
function closed({ actor }: Visit): Problem {
  const reason =
    roleOf(actor) === 'partner'
      ? 'An invoice bills the entry: void it, or credit it in full, before you change the entry.'
      : 'The entry is closed and cannot be changed: ask a partner.'
  return new Problem('conflict', reason)
}

function sent(error: unknown): Problem {
  const field = columnOf(error)
  return new Problem('conflict', 'The letter has been sent and cannot be changed: start a new version of it.', {
    ...(field !== undefined && { field }),
    cause: error,
  })
}

/** The column that a trigger named in its error. */
function columnOf(error: unknown): string | undefined {
  return error instanceof Error && 'column' in error && typeof error.column === 'string' ? error.column : undefined
}

function archivedItem({ noun }: ItemKind): Problem {
  return new Problem('conflict', `The ${noun.replace('_', ' ')} was archived: restore it first.`)
}

export function archived(): Problem {
  return new Problem('conflict', 'The client is archived: restore it before you change its record.')
}

/** The error for a change that is based on an older version, with the current state to compare with. */
export function stale(current: object): Problem {
  return new Problem(
    'stale_version',
    'This has changed since you read it. Compare your change with the current version, then send it again.',
    { current },
  )
}
