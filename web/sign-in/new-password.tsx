/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Action } from './action.ts'
import { EmailField, PasswordField } from './fields.tsx'
import { Form } from './form.tsx'

interface NewPasswordProps {
  readonly action: Action
  readonly email: string
  /** The fewest characters. */
  readonly minimum: number
  readonly submit: string
  readonly onChosen: (password: string) => Promise<void>
  /** Below the button. */
  readonly after?: ComponentChildren
}

/** The address is a field too, so that password managers keep both together. */
export function NewPasswordForm({ action, email, minimum, submit, onChosen, after }: NewPasswordProps) {
  const [password, setPassword] = useState('')
  return (
    <Form action={action} submit={submit} onSubmit={() => onChosen(password)} after={after}>
      <EmailField label="Email address" name="email" value={email} onValue={() => undefined} isFixed />
      <PasswordField
        label="New password"
        hint={`At least ${minimum} characters. Several words are easy to remember; any characters and spaces are fine. Common passwords are refused.`}
        name="password"
        value={password}
        onValue={setPassword}
        refusal={action.refusal}
        isFirst
        isRetried
        isNew
      />
    </Form>
  )
}
