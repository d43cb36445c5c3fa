import type { Logger } from 'pino'
import { repeat, type RepeatedWork } from '../platform/flow/repeat.ts'
import { removeOverInvitations, type InvitationRemoval } from './invitations/over-invitations.ts'

const minute = 60_000

/** Removes invitations that have been over for long, every minute. Safe on any number of instances at once. */
export function startPeopleHousekeeping(needs: InvitationRemoval & { readonly log: Logger }): RepeatedWork {
  return repeat({
    name: 'removal of old invitations',
    pause: minute,
    work: () => removeOverInvitations(needs),
    log: needs.log,
  })
}
