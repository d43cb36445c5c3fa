/** @jsxImportSource preact */
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'
import { useRef, useState } from 'preact/hooks'
import { assertPasskey } from '../passkeys.ts'
import { useAction } from './action.ts'
import { leaveFor } from './api.ts'
import { CodeForm, messageCode } from './code-form.tsx'
import { Form } from './form.tsx'
import { SendAgain } from './send-again.tsx'
import { postFactor, type Choice } from './wire.ts'

async function begin<Challenge>(factor: string): Promise<Challenge> {
  const { challenge } = await postFactor<{ challenge: Challenge }>('/auth/second-factor/start', { factor })
  return challenge
}

/** Returns the address of the page that the person wants. */
async function prove(input: object): Promise<string> {
  return (await postFactor<{ location: string }>('/auth/second-factor', { input })).location
}

const complete = async (input: object): Promise<void> => leaveFor(await prove(input))

interface FactorFormProps {
  readonly factor: Choice
  /** Called after a recovery code, with the address of the page that the person wants. */
  readonly onRecovered: (next: string) => Promise<void>
}

/** The challenge of one second factor. */
export function FactorForm({ factor, onRecovered }: FactorFormProps) {
  if (factor.id === 'passkey') return <PasskeyForm />
  if (factor.id === 'sms') return <MessageForm />
  return <EnteredCode factor={factor} onRecovered={onRecovered} />
}

const codes = {
  totp: {
    label: 'Code from your authenticator app',
    hint: 'Six digits. They change every 30 seconds.',
    group: 3,
    kind: 'digits',
  },
  recovery_code: {
    label: 'Recovery code',
    hint: 'One of the ten codes that you saved. Each works once.',
    group: 4,
    kind: 'letters',
    isOneTime: false,
  },
} as const

function EnteredCode({ factor, onRecovered }: FactorFormProps) {
  const isBegunRef = useRef(false)

  async function submit(code: string): Promise<void> {
    if (!isBegunRef.current) await begin(factor.id)
    isBegunRef.current = true
    if (factor.id === 'recovery_code') await onRecovered(await prove({ code }))
    else await complete({ code })
  }

  const words = factor.id === 'recovery_code' ? codes.recovery_code : codes.totp
  return <CodeForm {...words} submit="Continue" onCode={submit} />
}

async function confirmWithPasskey(): Promise<void> {
  const { options } = await begin<{ options: PublicKeyCredentialRequestOptionsJSON }>('passkey')
  await complete({ credential: await assertPasskey(options) })
}

function PasskeyForm() {
  const action = useAction()
  return (
    <Form action={action} submit="Use your passkey" onSubmit={confirmWithPasskey}>
      <p>Confirm with a passkey of yours: on this device, on your phone, or on a security key.</p>
    </Form>
  )
}

/** The number is shown with most digits hidden. */
function MessageForm() {
  const [number, setNumber] = useState<string>()
  const action = useAction()
  const send = async () => setNumber((await begin<{ number: string }>('sms')).number)
  if (number === undefined) {
    return (
      <Form action={action} submit="Send me a code" onSubmit={send}>
        <p>We will send a code to your phone.</p>
      </Form>
    )
  }
  return (
    <>
      <CodeForm {...messageCode(number)} submit="Continue" onCode={(code) => complete({ code })} />
      <SendAgain what="message" send={send} />
    </>
  )
}
