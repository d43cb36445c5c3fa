/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { useAction, useStart } from './action.ts'
import type { EnrolProps } from './enrol.tsx'
import { CodeField } from './fields.tsx'
import { Alert, Form } from './form.tsx'

interface Key {
  readonly secret: string
  readonly uri: string
  /** An SVG image. */
  readonly qr: string
}

/** The key is shown once, as a code to scan and as text. */
export function EnrolTotp({ begin, complete }: EnrolProps) {
  const [key, setKey] = useState<Key>()
  const [code, setCode] = useState('')
  const starting = useStart(async () => setKey(await begin<Key>()))
  const action = useAction()
  if (key === undefined) return <Alert refusal={starting.refusal} />
  return (
    <>
      <p>1. Scan this with your authenticator app.</p>
      <img class="qr" src={`data:image/svg+xml,${encodeURIComponent(key.qr)}`} alt="QR code of the key below" />
      <p class="hint">
        If you cannot scan it, <a href={key.uri}>open it in an app on this device</a>, or type this key into the app:
      </p>
      <p class="key">{key.secret.replace(/.{4}(?=.)/g, '$& ')}</p>
      <p>2. Enter the code that the app shows.</p>
      <Form action={action} submit="Set up" onSubmit={() => complete({ code })}>
        <CodeField
          label="Code from the app"
          name="code"
          group={3}
          kind="digits"
          value={code}
          onValue={setCode}
          refusal={action.refusal}
          isRetried
        />
      </Form>
    </>
  )
}
