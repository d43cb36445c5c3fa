import { useSyncExternalStore } from 'react'
import { sessionState, watchSession, type SessionState } from '../session.ts'

/** The current role of the signed-in person, which can change between sign-ins. */
export function useRole(): SessionState['role'] {
  return useSyncExternalStore(watchSession, () => sessionState().role)
}
