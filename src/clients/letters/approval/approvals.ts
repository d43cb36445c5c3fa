import type { AuditedAction, RecordAccess } from '../../../access/access.ts'
import { byService, type Visit } from '../../../access/actor.ts'
import { recordWithin } from '../../../access/audit/audit.ts'
import { may, scopeOf, type ApprovalRule } from '../../../access/policy.ts'
import type { Database } from '../../../platform/database/database.ts'
import { Problem } from '../../../platform/problems.ts'
import { readLetterToApprove, writeApprovalRule, type LetterToApprove } from './store.ts'

/** The rule that says who may approve letters. The database has the same rule, and applies it to every change of a letter: keep_letter(). */
export interface Approvals {
  /** Throws Problem `forbidden` if a change approves a letter, or creates an approved one, that the actor may not approve. */
  check(visit: Visit, clientId: string, change: LetterChange): Promise<void>
}

/** What is to become of a letter: of a new one without an id. */
export interface LetterChange {
  readonly id?: string
  readonly subject?: string
  readonly body?: string
  readonly status?: string
}

/** Tells the database the rule. */
export async function keepApprovalRule(database: Database, rule: ApprovalRule): Promise<void> {
  await database.transaction(async (tx) => {
    if (!(await writeApprovalRule(tx, rule))) return
    await recordWithin(tx, [
      { ...byService, action: 'approval_rule_set', outcome: 'allowed', noun: 'letter', details: { rule } },
    ])
  })
}

export function createApprovals({
  access,
  rule,
}: {
  readonly access: RecordAccess
  readonly rule: ApprovalRule
}): Approvals {
  return Object.freeze<Approvals>({
    async check(visit, clientId, change) {
      if (rule === 'anyone' || (change.status !== 'approved' && change.status !== 'sent')) return
      const scope = scopeOf(visit.actor, 'change', 'letter')
      const [[row]] = await access.as(visit, [readLetterToApprove(scope, clientId, change.id)])
      // What is out of reach is refused by the change itself, and so is a letter that was sent.
      if (!row || !approves(row, change)) return
      const approval = { rule, wrote: row.wrote || writes(row, change) }
      if (may(visit.actor, 'approve', 'letter', { consultantId: row.consultant_id, approval })) return
      const { status: verb, id } = change
      const audited: AuditedAction = {
        action: `letter_${verb}`,
        noun: 'letter',
        clientId,
        ...(id !== undefined && { nounId: id }),
      }
      await access.forbid(visit, audited, reasons[rule], 'status')
    },
  })
}

function writes({ subject, body }: LetterToApprove, change: LetterChange): boolean {
  return (change.subject ?? subject) !== subject || (change.body ?? body) !== body
}

/** A changed text makes an approved letter a draft, unless it is sent as it is. */
function approves(row: LetterToApprove, change: LetterChange): boolean {
  if (row.status === 'sent') return false
  return row.status !== 'approved' || (change.status === 'sent' && writes(row, change))
}

const reasons = {
  'not-writer': 'Nobody approves a letter that they wrote: ask someone else to review it.',
  partners: 'Only partners approve letters: ask a partner to review it.',
} satisfies Record<Exclude<ApprovalRule, 'anyone'>, string>

/** The refusal of keep_letter(), if the letter changed since the check or the instances have different rules. */
export function notApprovable(cause: unknown): Problem {
  const reason = 'You may not approve this letter: ask someone else to review it.'
  return new Problem('forbidden', reason, { field: 'status', cause })
}
