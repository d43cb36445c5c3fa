import { useSyncExternalStore } from 'react'
import { sessionState, watchSession, type SessionState } from '../session.ts'

/** What who is signed in may do now: from one sign-in to the next they may have been given another role. */
export function useRole(): SessionState['role'] {
  return useSyncExternalStore(watchSession, () => sessionState().role)
}
