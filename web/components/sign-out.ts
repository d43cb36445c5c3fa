import { change } from '../api.ts'
import { forgetDrafts, hasDrafts } from '../drafts.ts'
import { tellSignedOut } from '../session.ts'
import { confirm } from './confirm.tsx'
import { notifyFailure } from './notify.ts'

/** Ends sessions, forgets this page in every tab, and goes where the server says: nothing of it is left to go back to. */
export async function signOut(address = '/signout', method: 'POST' | 'DELETE' = 'POST'): Promise<void> {
  const sure =
    !hasDrafts() ||
    (await confirm({
      title: 'Sign out without saving?',
      text: 'What you have written on this page is not saved, and is lost when you sign out.',
      action: 'Sign out without saving',
    }))
  if (!sure) return
  try {
    const { location: next = '/signin' } = await change<{ location?: string }>(address, { method, body: {} })
    tellSignedOut()
    forgetDrafts()
    location.replace(next)
  } catch (error) {
    notifyFailure('You are still signed in', error)
  }
}
