import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'
import { useLayoutEffect } from 'preact/hooks'
import { assertPasskey, canOfferPasskeys, PasskeyAborted, stopPasskeys } from '../passkeys.ts'
import { Refused } from './api.ts'
import { completeMethod, startMethod } from './wire.ts'

/** In ms. A challenge is valid for 5 minutes. */
const renewal = 4 * 60_000

/**
 * Lets the browser offer passkeys in the autofill of the address field, for as long as the page is open: the challenge is
 * renewed before it expires.
 */
export function useOfferedPasskeys(isOn: boolean, onFailure: (error: unknown) => void): void {
  // Stopped as soon as the button is pressed, and so before the button's own request.
  useLayoutEffect(() => {
    if (!isOn) return undefined
    const stopping = new AbortController()
    void offer(stopping.signal, onFailure)
    return () => {
      stopping.abort()
      stopPasskeys()
    }
  }, [isOn, onFailure])
}

async function offer(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
  if (!(await canOfferPasskeys())) return
  while (!signal.aborted) {
    await untilVisible(signal)
    const begun = await begin()
    if (signal.aborted) return
    if (begun !== undefined) void use(begun, signal, onFailure)
    await pause(renewal, signal)
  }
}

interface Begun {
  readonly attempt: string
  readonly challenge: { readonly options: PublicKeyCredentialRequestOptionsJSON }
}

/** Undefined if the server refuses: the person can still use the button. */
async function begin(): Promise<Begun | undefined> {
  try {
    return await startMethod<Begun['challenge']>('passkey', {})
  } catch {
    return undefined
  }
}

/** The next challenge aborts this one, and so does the button. */
async function use(
  { attempt, challenge }: Begun,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  try {
    const credential = await assertPasskey(challenge.options, true)
    await completeMethod(attempt, { credential })
  } catch (error) {
    if (error instanceof PasskeyAborted || signal.aborted) return
    if (error instanceof Refused) onFailure(error)
  }
}

function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
    look()
  })
}

function pause(length: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, length)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
