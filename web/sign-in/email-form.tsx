/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { useAction, type Action } from './action.ts'
import { keepEmail, typedEmail } from './email.ts'
import { EmailField, PasswordField } from './fields.tsx'
import { Button, Form } from './form.tsx'
import type { Mailed } from './mailed-code.ts'
import { useOfferedPasskeys } from './offered-passkeys.ts'
import { completeMethod, page, startMethod } from './wire.ts'

interface EmailFormProps {
  readonly hasLink: boolean
  readonly hasPassword: boolean
  /** Whether the browser lists passkeys beside the addresses that it knows. */
  readonly offersPasskeys: boolean
  readonly onMailed: (mailed: Mailed) => void
}

/** The address, once, for the link and for the password. */
export function EmailForm({ hasLink, hasPassword, offersPasskeys, onMailed }: EmailFormProps) {
  const [email, setEmail] = useState(typedEmail)
  const [password, setPassword] = useState('')
  // Two actions: too many mails must not keep anyone from using a password.
  const action = useAction()
  const mailing = useAction()
  useOfferedPasskeys(offersPasskeys, action.fail)

  async function mailLink(): Promise<void> {
    action.forget()
    const { attempt } = await startMethod('email_link', { email })
    onMailed({ email, attempt })
  }
  async function signIn(): Promise<void> {
    mailing.forget()
    const { attempt } = await startMethod('password', { email })
    await completeMethod(attempt, { email, password })
  }

  return (
    <Form
      action={action}
      onSubmit={hasPassword ? signIn : mailLink}
      submit={hasPassword ? 'Sign in' : 'Email me a link'}
      otherRefusal={mailing.refusal}
      after={hasPassword && hasLink && <LinkButton action={mailing} onClick={mailLink} />}
    >
      <EmailField
        label="Email address"
        name="email"
        value={email}
        onValue={(value) => {
          setEmail(value)
          keepEmail(value)
        }}
        refusal={action.refusal ?? mailing.refusal}
        isFirst={page.providers.length === 0}
        isRetried={!hasPassword}
        webauthn
      />
      {hasPassword && (
        <>
          <PasswordField
            label="Password"
            name="password"
            value={password}
            onValue={setPassword}
            refusal={action.refusal}
            isRetried
          />
          <p class="beside">
            <a href="/signin/reset">Forgot your password, or have none yet?</a>
          </p>
        </>
      )}
    </Form>
  )
}

function LinkButton({ action, onClick }: { readonly action: Action; readonly onClick: () => Promise<void> }) {
  return (
    <Button action={action} onClick={onClick}>
      Email me a link instead
    </Button>
  )
}
