import type { SignInPage } from '../../src/signin/schema.ts'
import { content } from '../content.ts'
import { believed } from '../wire.ts'
import { leaveFor, post } from './api.ts'

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

/** Completes it. The page is left: to the portal, or to the second factor. */
export async function completeMethod(attempt: string, input: object): Promise<void> {
  const { location: next } = await post<{ location: string }>('/auth/complete', { attempt, input })
  await leaveFor(next)
}
