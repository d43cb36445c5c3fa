/** @jsxImportSource preact */
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'
import { assertPasskey, canUsePasskeys } from '../passkeys.ts'
import { useAction } from './action.ts'
import { Alert, Button } from './form.tsx'
import { completeMethod, page, startMethod } from './wire.ts'

/** Signs in with a passkey, without an address. `onActive` reports whether the browser's dialog is open. */
export function PasskeyButton({ onActive }: { readonly onActive: (isActive: boolean) => void }) {
  const action = useAction()
  if (!canUsePasskeys) return null

  async function signIn(): Promise<void> {
    onActive(true)
    try {
      const { attempt, challenge } = await startMethod<{ options: PublicKeyCredentialRequestOptionsJSON }>(
        'passkey',
        {},
      )
      await completeMethod(attempt, { credential: await assertPasskey(challenge.options) })
    } finally {
      onActive(false)
    }
  }

  return (
    <div class="choices">
      <Button action={action} onClick={signIn} isPrimary={page.providers.length === 0}>
        Sign in with a passkey
      </Button>
      <Alert refusal={action.refusal} />
    </div>
  )
}
