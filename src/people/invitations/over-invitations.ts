import { byService } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import { deleteOverInvitations } from './store.ts'

export interface InvitationRemoval {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

const day = 86_400_000
/** How long an invitation is kept after it was accepted or withdrawn, or has expired, in ms. */
const kept = 30 * day

/** Removes the invitations that have been over for 30 days, with the address and the name, each with an audit row. */
export async function removeOverInvitations({ database, audit, clock = Date.now }: InvitationRemoval): Promise<void> {
  await database.transaction(async (tx) => {
    const ids = await deleteOverInvitations(tx, new Date(clock() - kept))
    const about = { ...byService, action: 'invitation_removed', outcome: 'allowed', noun: 'invitation' } as const
    await audit.recordWithin(
      tx,
      ids.map((nounId) => ({ ...about, nounId })),
    )
  })
}
