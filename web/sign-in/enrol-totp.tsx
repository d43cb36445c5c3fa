/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { useStart } from './action.ts'
import { CodeForm } from './code-form.tsx'
import type { EnrolProps } from './enrol.tsx'
import { Alert } from './form.tsx'

interface Key {
  readonly secret: string
  readonly uri: string
  /** An SVG image. */
  readonly qr: string
}

/** The key is shown once, as a code to scan and as text. */
export function EnrolTotp({ begin, complete }: EnrolProps) {
  const [key, setKey] = useState<Key>()
  const starting = useStart(async () => setKey(await begin<Key>()))
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
      <CodeForm
        label="Code from the app"
        group={3}
        kind="digits"
        isFirst={false}
        submit="Set up"
        onCode={(code) => complete({ code })}
      />
    </>
  )
}
