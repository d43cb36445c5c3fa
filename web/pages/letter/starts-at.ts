import { useLocation } from 'react-router'
import { believed } from '../../wire.ts'

/** Where the cursor starts in a letter. */
export type StartsAt = 'subject' | 'body'

/** The state of a move to a letter whose page is to take the focus. */
export function startingAt(startsAt: StartsAt): { readonly startsAt: StartsAt } {
  return { startsAt }
}

/** Where the cursor starts on this page; undefined if it was opened to read it. */
export function useStartsAt(): StartsAt | undefined {
  return believed<{ readonly startsAt?: StartsAt } | null>(useLocation().state)?.startsAt
}
