import { Problem } from '../../platform/problems.ts'
import type { Session } from './sessions.ts'

/** How long a person counts as present after they have proved who they are, in ms. */
const recent = 10 * 60_000

/** `now` is in ms since 1970. */
export const isRecent = (session: Proved, now: number): boolean => now <= recentUntil(session)

/** In ms since 1970; 0 if it is unknown when the person proved who they are. */
export const recentUntil = ({ provenAt }: Proved): number => (provenAt === null ? 0 : provenAt.getTime() + recent)

type Proved = Pick<Session, 'provenAt'>

/** Throws Problem `recent_sign_in_required`. `now` is in ms since 1970. */
export function requireRecent(session: Proved, now: number): void {
  if (isRecent(session, now)) return
  throw new Problem(
    'recent_sign_in_required',
    'Confirm who you are first: this needs a sign-in within the last 10 minutes.',
  )
}
