/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { CodeForm } from './code-form.tsx'
import { keepMailed, type Mailed } from './mailed-code.ts'
import { Panel } from './panel.tsx'
import { SendAgain } from './send-again.tsx'
import { completeMethod, startMethod } from './wire.ts'

interface MailedProps extends Mailed {
  readonly onBack: () => void
}

/** After a link was sent: the person opens it, or types the code here. */
export function MailedPage({ email, attempt: first, onBack }: MailedProps) {
  const [attempt, setAttempt] = useState(first)
  return (
    <Panel title="Check your mail">
      <p>
        If <strong>{email}</strong> may sign in here, we have sent it a link and a code. Open the link, or enter the
        code here. Both work once, for 10 minutes.
      </p>
      <CodeForm
        key={attempt}
        label="Code from the mail"
        group={4}
        kind="letters"
        submit="Continue"
        onCode={(code) => completeMethod(attempt, { code })}
      />
      <SendAgain
        what="mail"
        send={async () => {
          const started = await startMethod('email_link', { email })
          keepMailed({ email, attempt: started.attempt })
          setAttempt(started.attempt)
        }}
      />
      <button type="button" class="link" onClick={onBack}>
        Use another address, or another way to sign in
      </button>
    </Panel>
  )
}
