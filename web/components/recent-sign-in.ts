import { ApiError } from '../api.ts'
import { confirm } from './confirm.tsx'

/**
 * Runs a change that the server accepts only shortly after a sign-in. If it is too late, offers to sign in again; the person
 * then comes back to this page. Returns undefined in that case. Throws ApiError.
 */
export async function afterRecentSignIn<Data>(work: () => Promise<Data>): Promise<Data | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError) || error.refusal.code !== 'recent_sign_in_required') throw error
    await askToSignInAgain()
    return undefined
  }
}

/** For a form: asks before anything is typed. */
export async function askToSignInAgain(): Promise<void> {
  const sure = await confirm({
    title: 'Confirm your identity',
    text: 'This needs a sign-in within the last 10 minutes, so that nobody can do it in a browser that you left unattended. Sign in again, then repeat it.',
    action: 'Sign in again',
  })
  if (!sure) return
  location.assign(`/signin?return_to=${encodeURIComponent(location.pathname)}&again=1`)
}
