import { change } from '../api.ts'
import { tellSignedOut } from '../session.ts'
import { notifyFailure } from './notify.ts'

/** Ends sessions, forgets this page in every tab, and goes where the server says: nothing of it is left to go back to. */
export async function signOut(address = '/signout', method: 'POST' | 'DELETE' = 'POST'): Promise<void> {
  try {
    const { location: next = '/signin' } = await change<{ location?: string }>(address, { method, body: {} })
    tellSignedOut()
    location.replace(next)
  } catch (error) {
    notifyFailure('You are still signed in', error)
  }
}
