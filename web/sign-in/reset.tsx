/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { useAction, useStart } from './action.ts'
import { post } from './api.ts'
import { keepEmail, typedEmail } from './email.ts'
import { EmailField } from './fields.tsx'
import { Alert, Form } from './form.tsx'
import { NewPasswordForm } from './new-password.tsx'
import { Ending, Panel } from './panel.tsx'
import { SendAgain } from './send-again.tsx'
import { token } from './token.ts'

/** Without a token: asks for a link. With the token of the link: asks for the new password. */
export function ResetPage() {
  return token === '' ? <RequestPage /> : <ChoosePage />
}

function RequestPage() {
  const [email, setEmail] = useState(typedEmail)
  const [isSent, setSent] = useState(false)
  const action = useAction()
  const send = async () => {
    await post('/auth/reset/request', { email })
    setSent(true)
  }
  if (isSent) {
    return (
      <Panel title="Check your mail">
        <p>
          If <strong>{email}</strong> may sign in here, we have sent it a link to choose a password. It works once, for
          20 minutes.
        </p>
        <SendAgain what="mail" send={send} />
        <a href="/signin">Back to the sign-in page</a>
      </Panel>
    )
  }
  return (
    <Panel title="Choose a new password">
      <p>We will send you a link to choose a password. Until you do, your current one stays valid.</p>
      <Form action={action} submit="Email me a link" onSubmit={send}>
        <EmailField
          label="Email address"
          name="email"
          value={email}
          onValue={(value) => {
            setEmail(value)
            keepEmail(value)
          }}
          refusal={action.refusal}
          isFirst
          isRetried
        />
      </Form>
      <a href="/signin">Back to the sign-in page</a>
    </Panel>
  )
}

interface Link {
  readonly email: string
  readonly minimum_length: number
}

function ChoosePage() {
  const [link, setLink] = useState<Link>()
  const [next, setNext] = useState<string>()
  const opening = useStart(async () => setLink(await post<Link>('/auth/reset/inspect', { token })))
  const action = useAction()

  async function choose(password: string): Promise<void> {
    const { location: to } = await post<{ location: string }>('/auth/reset', { token, password })
    if (link) keepEmail(link.email)
    setNext(to)
  }

  if (next !== undefined) {
    return (
      <Ending
        title="Your password is set"
        text="You are signed out everywhere. Sign in with the new password now."
        to={next}
        action="Sign in"
      />
    )
  }
  return (
    <Panel title="Choose a new password" key={link?.email}>
      <Alert refusal={opening.refusal} />
      {opening.refusal && (
        <a class="button" href="/signin/reset">
          Ask for another link
        </a>
      )}
      {link && (
        <NewPasswordForm
          action={action}
          email={link.email}
          minimum={link.minimum_length}
          submit="Set the password"
          onChosen={choose}
        />
      )}
    </Panel>
  )
}
