import { change } from '../api.ts'
import { forgetUnsaved, hasUnsaved, saveUnsaved } from '../unsaved.ts'
import { forgetKept } from '../kept.ts'
import { tellSignedOut } from '../session.ts'
import { confirm } from './confirm.tsx'
import { notifyFailure } from './notify.ts'

/** Signs out, clears the page in every tab, and follows the server's redirect. The back button shows nothing. */
export async function signOut(address = '/signout', method: 'POST' | 'DELETE' = 'POST'): Promise<void> {
  await saveUnsaved()
  const sure =
    !hasUnsaved() ||
    (await confirm({
      title: 'Sign out without saving?',
      text: 'You have unsaved changes on this page. Signing out discards them.',
      action: 'Sign out without saving',
    }))
  if (!sure) return
  try {
    const { location: next = '/signin' } = await change<{ location?: string }>(address, { method, body: {} })
    tellSignedOut()
    forgetUnsaved()
    forgetKept()
    location.replace(next)
  } catch (error) {
    notifyFailure('You are still signed in', error)
  }
}
