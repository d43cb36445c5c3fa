import type { ApprovalRule, Scope } from '../../../access/policy.ts'
import type { Queryable } from '../../../platform/database/database.ts'
import type { PreparedStatement } from '../../../platform/database/pipeline.ts'
import { within } from '../../statements-store.ts'

/** Writes the rule, within a transaction. Returns whether another one, or none, was kept. */
export async function writeApprovalRule(tx: Queryable, rule: ApprovalRule): Promise<boolean> {
  const written = await tx.rows(
    `insert into letter_approval (rule) values ($1)
     on conflict (only_row) do update set rule = excluded.rule where letter_approval.rule <> excluded.rule returning rule`,
    [rule],
  )
  return written.length > 0
}

export interface LetterToApprove {
  readonly consultant_id: string
  /** Null for a new letter. */
  readonly status: 'draft' | 'approved' | 'sent' | null
  readonly subject: string | null
  readonly body: string | null
  /** Whether the person of the transaction wrote any of its text. */
  readonly wrote: boolean
}

/** What decides who may approve a letter, or a new one without an id. */
export function readLetterToApprove(
  scope: Scope,
  clientId: string,
  id: string | undefined,
): PreparedStatement<LetterToApprove> {
  const { condition, value, name } = within(scope)
  return {
    name: `letter to approve ${name}`,
    text: `select c.consultant_id, n.status, n.subject, n.body, n.id is null or wrote_letter(n.id, portal_person()) as wrote
      from client c left join letter n on n.client_id = c.id and n.id = $3
      where ${condition} and c.id = $2 and ($3::uuid is null or n.id is not null)`,
    values: [value, clientId, id ?? null],
  }
}
