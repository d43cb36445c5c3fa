import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useEffect, useRef, useState, type ReactNode, type SubmitEvent } from 'react'
import { useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { useFocusReturned } from '../../components/focus.ts'
import { notifyDone } from '../../components/notify.ts'
import type { OwnAccountShown } from '../../../src/signin/me/schema.ts'
import classes from './me.module.css'
import { Failure } from './password.tsx'
import { useOwnChange, withEnded, type Changed } from './use-own-change.ts'

interface SetUpProps {
  readonly factor: OwnAccountShown['factors'][number]
  /** With the recovery codes that came with the first factor. */
  readonly onClose: (recoveryCodes?: readonly string[]) => void
}

/** The challenge of an authenticator app: the key, shown once. */
interface Key {
  readonly secret: string
  readonly uri: string
  /** An SVG image. */
  readonly qr: string
}

/** Sets up an authenticator app or a telephone. */
export function SetUpDialog({ factor, onClose }: SetUpProps) {
  useFocusReturned()
  return (
    <Modal
      opened
      onClose={() => onClose()}
      title={`${factor.set_up ? 'Replace' : 'Set up'}: ${factor.name.toLowerCase()}`}
      size="sm"
    >
      {factor.id === 'sms' ? (
        <PhoneForm factor={factor} onClose={onClose} />
      ) : (
        <TotpForm factor={factor} onClose={onClose} />
      )}
    </Modal>
  )
}

function useSetUp({ factor, onClose }: SetUpProps) {
  const { revalidate } = useRevalidator()
  const { run, isBusy, error } = useOwnChange()
  async function complete(code: string) {
    const done = await run(() =>
      change<Changed & { recovery_codes?: readonly string[] }>(`/me/factors/${factor.id}`, {
        method: 'POST',
        body: { input: { code } },
      }),
    )
    if (!done) return
    notifyDone(withEnded(`${factor.name} is set up.`, done))
    onClose(done.recovery_codes)
    await revalidate()
  }
  return { run, complete, isBusy, error }
}

/** Throws ApiError. */
function begin<Begun>(factor: OwnAccountShown['factors'][number], body: object): Promise<Begun> {
  return change<Begun>(`/me/factors/${factor.id}/start`, { method: 'POST', body })
}

function TotpForm(props: SetUpProps) {
  const { run, complete, isBusy, error } = useSetUp(props)
  const [key, setKey] = useState<Key>()
  const startedRef = useRef(false)
  useEffect(() => {
    if (startedRef.current) return
    startedRef.current = true
    void run(() => begin<{ challenge: Key }>(props.factor, {})).then((begun) => setKey(begun?.challenge))
  })
  if (!key) return <Failure reason={error} />
  return (
    <CodeForm label="Code from the app" isBusy={isBusy} error={error} onCode={complete}>
      <p>1. Scan this with your authenticator app.</p>
      <img
        className={classes.qr}
        src={`data:image/svg+xml,${encodeURIComponent(key.qr)}`}
        alt="QR code of the key below"
      />
      <p className={classes.about}>
        If you cannot scan it, <a href={key.uri}>open it in an app on this device</a>, or type this key into the app:
      </p>
      <p className={classes.key}>{key.secret.replace(/.{4}(?=.)/g, '$& ')}</p>
      <p>2. Enter the code that the app shows.</p>
    </CodeForm>
  )
}

function PhoneForm(props: SetUpProps) {
  const { run, complete, isBusy, error } = useSetUp(props)
  const [number, setNumber] = useState('')
  const [isSent, setSent] = useState(false)

  async function send(event?: SubmitEvent) {
    event?.preventDefault()
    if (await run(() => begin<object>(props.factor, { input: { number } }))) setSent(true)
  }

  if (isSent) {
    return (
      <CodeForm label="Code from the message" isBusy={isBusy} error={error} onCode={complete}>
        <p>We have sent a code to {number}. It is valid for 10 minutes.</p>
        <Group gap="xs">
          <Button variant="default" onClick={() => void send()}>
            Send another message
          </Button>
          <Button variant="default" onClick={() => setSent(false)}>
            Use another number
          </Button>
        </Group>
      </CodeForm>
    )
  }
  return (
    <form className={classes.form} onSubmit={(event) => void send(event)} noValidate>
      <TextInput
        label="Telephone number"
        description="With the country code, such as +49 151 12345678."
        type="tel"
        autoComplete="tel"
        value={number}
        onChange={({ currentTarget }) => setNumber(currentTarget.value)}
        data-autofocus
      />
      <Failure reason={error} />
      <Group justify="flex-end">
        <Button type="submit" loading={isBusy}>
          Send me a code
        </Button>
      </Group>
    </form>
  )
}

interface CodeFormProps {
  readonly label: string
  readonly isBusy: boolean
  readonly error: string | undefined
  readonly onCode: (code: string) => Promise<void>
  readonly children: ReactNode
}

function CodeForm({ label, isBusy, error, onCode, children }: CodeFormProps) {
  const [code, setCode] = useState('')
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault()
        void onCode(code)
      }}
      noValidate
    >
      {children}
      <TextInput
        label={label}
        inputMode="numeric"
        autoComplete="one-time-code"
        value={code}
        onChange={({ currentTarget }) => setCode(currentTarget.value)}
        data-autofocus
      />
      <Failure reason={error} />
      <Group justify="flex-end">
        <Button type="submit" loading={isBusy}>
          Set up
        </Button>
      </Group>
    </form>
  )
}
