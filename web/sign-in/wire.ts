import type { SignInPage } from '../../src/signin/schema.ts'
import { content } from '../content.ts'
import { believed } from '../wire.ts'
import { forgetMailed } from './mailed-code.ts'
import { leaveFor, look, post, Refused } from './api.ts'

/** The server's state of this sign-in. */
export const page = believed<SignInPage>(content.data ?? {})

const query = new URLSearchParams(location.search)

/** Whether the person is signed in, and confirms that it is still them. */
export const isAgain = query.get('again') === '1'

/** A method or factor to choose. */
export interface Choice {
  readonly id: string
  readonly name: string
}

interface Started<Challenge> {
  readonly attempt: string
  readonly challenge: Challenge
}

/** Starts a sign-in with a method that asks for input here. */
export function startMethod<Challenge>(method: string, input: object): Promise<Started<Challenge>> {
  return post(`/auth/start/${method}`, { input, ...(page.return_to !== undefined && { return_to: page.return_to }) })
}

/**
 * Sends a step of a second factor. If another tab has completed the sign-in, the browser goes to the sign-in page, which
 * says who is signed in. Throws Refused.
 */
export async function postFactor<Data>(address: string, body: object): Promise<Data> {
  try {
    return await post<Data>(address, body)
  } catch (error) {
    const isOver = error instanceof Refused && error.code === 'sign_in_failed' && (await isCompleted())
    return isOver ? leaveFor('/signin') : Promise.reject(error)
  }
}

/** Whether someone is signed in, and no sign-in of this browser waits for a second factor. */
async function isCompleted(): Promise<boolean> {
  const [me, now] = await Promise.all([look('/me'), look<SignInPage>('/signin')])
  return me !== undefined && now !== undefined && !now.second_factors && !now.enrol
}

/** Completes it. The page is left: to the portal, or to the second factor. */
export async function completeMethod(attempt: string, input: object): Promise<void> {
  const { location: next } = await post<{ location: string }>('/auth/complete', { attempt, input })
  forgetMailed()
  await leaveFor(next)
}
