import { useState } from 'react'
import { useLoaderData, useRevalidator } from 'react-router'
import { reasonOf } from '../../api.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { identityConfirmed } from '../../identity.ts'
import type { OwnAccountShown } from '../../../src/signin/me/schema.ts'
import type { SignInPage } from '../../../src/signin/schema.ts'

/** The data of this page: the account, and the methods that the server offers. */
export interface Account {
  readonly me: OwnAccountShown
  readonly offered: SignInPage
}

export const useAccount = (): Account => useLoaderData<Account>()

/** The result of a change to how a person signs in. */
export interface Changed {
  /** How many other sessions ended. */
  readonly ended: number
}

export interface OwnChange {
  readonly isBusy: boolean
  /** Why the last change failed, for a form. */
  readonly error: string | undefined
  /** Carries a change out and reloads the page's data. Returns undefined if it failed; `error` has the reason. */
  readonly run: <Data>(work: () => Promise<Data>) => Promise<Data | undefined>
  /** The same for a change that ends the other sessions, and says so. A failure is a notification. */
  readonly carryOut: (work: () => Promise<Changed>, words: Words) => Promise<void>
}

interface Words {
  readonly done: string
  readonly failed: string
}

export function useOwnChange(): OwnChange {
  const { revalidate } = useRevalidator()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()

  async function attempt<Data>(
    work: () => Promise<Data>,
    onError: (error: unknown) => void,
  ): Promise<Data | undefined> {
    setBusy(true)
    setError(undefined)
    try {
      return await work()
    } catch (failure) {
      onError(failure)
      return undefined
    } finally {
      setBusy(false)
    }
  }

  return {
    isBusy,
    error,
    run: (work) => attempt(work, (failure) => setError(reasonOf(failure))),
    async carryOut(work, { done, failed }) {
      const changed = await attempt(work, (failure) => notifyFailure(failed, failure))
      if (changed) notifyDone(withEnded(done, changed))
      await revalidate()
    },
  }
}

/** Such as "The passkey was removed. Your 2 other sessions have ended." */
export function withEnded(done: string, { ended }: Changed): string {
  if (ended === 0) return `${done} You had no other sessions.`
  return `${done} Your ${ended === 1 ? 'other session has' : `${ended} other sessions have`} ended.`
}

/** In ms: the time for what `open` does. */
const margin = 30_000

/**
 * Runs `open` at once if the person has proved who they are recently enough for a change, or after they have confirmed it. The
 * server decides; this only avoids asking for input that it would refuse.
 */
export function useRecently(): (open: () => void) => void {
  const { recent_until: until } = useAccount().me.session
  return (open) => {
    if (until !== null && Date.now() < Date.parse(until) - margin) return open()
    void identityConfirmed().then((isConfirmed) => isConfirmed && open())
  }
}
