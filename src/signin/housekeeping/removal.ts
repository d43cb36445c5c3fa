import type { Logger } from 'pino'
import { repeat, type RepeatedWork } from '../../platform/flow/repeat.ts'
import { removeExpired, type RemovalNeeds } from './housekeeping.ts'

const minute = 60_000

/** Removes expired rows every minute. Safe on any number of instances at once. */
export function startSignInHousekeeping(needs: RemovalNeeds & { readonly log: Logger }): RepeatedWork {
  return repeat({
    name: 'removal of expired sign-ins',
    pause: minute,
    work: () => removeExpired(needs),
    log: needs.log,
  })
}
