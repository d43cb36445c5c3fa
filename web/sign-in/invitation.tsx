/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { useAction, useStart } from './action.ts'
import { leaveFor, post } from './api.ts'
import { Alert, Button, Form } from './form.tsx'
import { NoToken } from './link.tsx'
import { Panel } from './panel.tsx'
import { token } from './token.ts'

interface Invitation {
  readonly email: string
  readonly name: string
  readonly role: 'consultant' | 'partner'
}

/** Where an invitation leads. Opening it uses nothing up; the button does. */
export function InvitationPage() {
  return token === '' ? <NoToken /> : <OpenedInvitation />
}

function OpenedInvitation() {
  const [invitation, setInvitation] = useState<Invitation>()
  const opening = useStart(async () => setInvitation(await post<Invitation>('/auth/invitation/inspect', { token })))
  return (
    <Panel title="You are invited" key={invitation?.email}>
      <Alert refusal={opening.refusal} />
      {invitation && <AcceptForm {...invitation} />}
      {!invitation && !opening.refusal && <output>Checking the invitation…</output>}
      {opening.refusal && (
        <a class="button" href="/signin">
          Go to the sign-in page
        </a>
      )}
    </Panel>
  )
}

async function accept(): Promise<void> {
  const { location: next } = await post<{ location: string }>('/auth/invitation', { token })
  await leaveFor(next)
}

function AcceptForm({ email, name, role }: Invitation) {
  const action = useAction()
  const isOther = action.refusal?.code === 'sign_in_refused'
  return (
    <>
      <p>
        The firm has invited <strong>{name}</strong> ({email}) to its client records, as a {role}.
      </p>
      <p class="about">
        You sign in now. Afterwards you can choose how you sign in the next time, on the page of your account.
      </p>
      <Form action={action} submit="Accept and sign in" onSubmit={accept} />
      {isOther && <SignOutHere />}
    </>
  )
}

/** Someone else is signed in in this browser. The page keeps the invitation. */
function SignOutHere() {
  const [isDone, setDone] = useState(false)
  const action = useAction()
  async function signOut(): Promise<void> {
    await post('/signout', {})
    setDone(true)
  }
  if (isDone) return <output>You are signed out. Accept the invitation now.</output>
  return (
    <>
      <Button action={action} onClick={signOut}>
        Sign out here
      </Button>
      <Alert refusal={action.refusal} />
    </>
  )
}
