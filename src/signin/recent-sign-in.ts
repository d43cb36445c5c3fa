import { Problem } from '../platform/problems.ts'
import type { Session } from './sessions.ts'

/** How long after its start a session may change how its person signs in, in ms. */
const recent = 10 * 60_000

/** `now` is in ms since 1970. */
export const isRecent = ({ createdAt }: Pick<Session, 'createdAt'>, now: number): boolean =>
  now - createdAt.getTime() <= recent

/** Throws Problem `recent_sign_in_required`. `now` is in ms since 1970. */
export function requireRecent(session: Pick<Session, 'createdAt'>, now: number): void {
  if (isRecent(session, now)) return
  throw new Problem(
    'recent_sign_in_required',
    'Sign in again first: this change needs a sign-in within the last 10 minutes.',
  )
}
