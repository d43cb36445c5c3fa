import type { AuditedAction, RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { may } from '../access/policy.ts'
import { Problem } from '../platform/problems.ts'
import * as store from './store.ts'
import type { ErasureEffects, ErasureList, ErasureQuery, ListedErasure } from './schema.ts'

/**
 * The erasure of clients after a waiting period. For partners: for others every method throws Problem `forbidden`. Each
 * call is in the audit log, also if it is refused.
 */
export interface Erasures {
  /** What the erasure of a client would lose. Throws what `RecordAccess.refuse` throws if there is no such client. */
  preview(visit: Visit, clientId: string): Promise<ErasureEffects>
  /**
   * Throws Problem `invalid_field` for a reason that names the client, `conflict` if an erasure of this client is scheduled,
   * and what `RecordAccess.refuse` throws if there is no such client.
   */
  schedule(visit: Visit, clientId: string, reason: string): Promise<ListedErasure>
  /** Throws what `RecordAccess.refuse` throws if no erasure of this client is scheduled. */
  withdraw(visit: Visit, clientId: string): Promise<void>
  list(visit: Visit, query: ErasureQuery): Promise<ErasureList>
}

interface ErasuresNeeds {
  readonly access: RecordAccess
  /** The waiting period, such as `30 days`. */
  readonly waiting: string
}

const most = 200

export function createErasures({ access, waiting }: ErasuresNeeds): Erasures {
  async function permit(visit: Visit, audited: AuditedAction): Promise<void> {
    if (!may(visit.actor, 'erase', 'client')) await access.forbid(visit, audited, 'Only partners may erase clients.')
  }

  return Object.freeze<Erasures>({
    async preview(visit, clientId) {
      const audited = auditedOf('previewed', clientId)
      await permit(visit, audited)
      const [[work]] = await access.as(visit, [store.readOpenWork(clientId)])
      if (!work) return access.refuse(visit, audited)
      await access.note(visit, audited)
      return { effects: effectsOn(work) }
    },

    async schedule(visit, clientId, reason) {
      const audited = auditedOf('scheduled', clientId)
      await permit(visit, audited)
      const planned = { clientId, reason: reason.trim(), waiting }
      const [[result], [row]] = await access.as(visit, [
        store.scheduleErasure(visit, planned),
        store.readErasureOf(clientId),
      ])
      if (!result || (result.scheduled && !row)) return access.refuse(visit, audited)
      if (result.named) return access.decline(visit, audited, namesClient())
      if (!result.scheduled || !row) return access.decline(visit, audited, alreadyScheduled())
      return present(row)
    },

    async withdraw(visit, clientId) {
      const audited = auditedOf('withdrawn', clientId)
      await permit(visit, audited)
      const [[done]] = await access.as(visit, [store.withdrawErasure(visit, clientId)])
      if (!done) await access.refuse(visit, audited)
    },

    async list(visit: Visit, { status = 'scheduled' }: ErasureQuery) {
      const audited = { action: 'erasures_listed', noun: 'client' }
      await permit(visit, audited)
      const read = status === 'scheduled' ? store.readScheduled : store.readPerformed
      const [rows] = await access.as(visit, [read(most)])
      await access.note(visit, audited)
      return { erasures: rows.map(present), total: rows[0]?.total ?? 0 }
    },
  })
}

const auditedOf = (verb: string, clientId: string): AuditedAction => ({
  action: `client_erasure_${verb}`,
  noun: 'client',
  clientId,
  nounId: clientId,
})

function present(row: store.ErasureRow): ListedErasure {
  const { client_id: id, name, reference, reason, scheduled_by: by, scheduled_by_name: byName } = row
  return {
    client: { id, name, reference },
    reason,
    scheduled_at: row.scheduled_at.toISOString(),
    scheduled_by: by === null || byName === null ? null : { id: by, name: byName },
    due_at: row.due_at?.toISOString() ?? null,
    performed_at: row.performed_at?.toISOString() ?? null,
  }
}

function effectsOn(work: store.OpenWork): string[] {
  const effects: readonly [count: number, one: string, many: string][] = [
    [
      work.drafts_running,
      'A letter is being drafted: its draft would be stopped',
      'letters are being drafted: their drafts would be stopped',
    ],
    [
      work.unbilled,
      'One entry or month of work is unbilled and could no longer be billed',
      'entries and months of work are unbilled and could no longer be billed',
    ],
    [work.invoice_drafts, 'One draft of an invoice would be voided', 'drafts of invoices would be voided'],
    [
      work.open_invoices,
      'One invoice is not paid: reminders of it would have no address',
      'invoices are not paid: reminders of them would have no address',
    ],
    [work.open_disputes, 'One dispute is open', 'disputes are open'],
    [work.unsent_letters, 'One letter is not sent', 'letters are not sent'],
  ]
  return effects.flatMap(([count, one, many]) => (count === 0 ? [] : `${count === 1 ? one : `${count} ${many}`}.`))
}

function namesClient(): Problem {
  return new Problem(
    'invalid_field',
    'The field reason is kept after the erasure: leave out the name, the reference and the email address of the client.',
    { field: 'reason' },
  )
}

function alreadyScheduled(): Problem {
  return new Problem('conflict', 'The erasure of this client is already scheduled. Withdraw it to start again.')
}
