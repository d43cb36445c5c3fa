/** @jsxImportSource preact */
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser'
import { createPasskey } from '../passkeys.ts'
import { useAction } from './action.ts'
import type { EnrolProps } from './enrol.tsx'
import { Form } from './form.tsx'

export function EnrolPasskey({ begin, complete }: EnrolProps) {
  const action = useAction()
  async function create(): Promise<void> {
    const { options } = await begin<{ options: PublicKeyCredentialCreationOptionsJSON }>()
    await complete({ credential: await createPasskey(options) })
  }
  return (
    <Form action={action} submit="Create a passkey" onSubmit={create}>
      <p>
        Your browser asks where to keep the passkey: on this device, in your password manager, on your phone, or on a
        security key. It confirms with your fingerprint, face or PIN, which never leave the device.
      </p>
    </Form>
  )
}
