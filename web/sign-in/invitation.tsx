/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import type { Role } from '../../src/access/actor.ts'
import { content } from '../content.ts'
import { useAction, useStart, type Action } from './action.ts'
import { leaveFor, post } from './api.ts'
import { Alert, Button, Form } from './form.tsx'
import { NoToken } from './link.tsx'
import { NewPasswordForm } from './new-password.tsx'
import { Panel } from './panel.tsx'
import { token } from './token.ts'

interface Invitation {
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly password?: { readonly minimum_length: number; readonly only_way: boolean }
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

async function accept(password?: string): Promise<void> {
  const chosen = password === undefined ? {} : { password }
  const { location: next } = await post<{ location: string }>('/auth/invitation', { token, ...chosen })
  await leaveFor(next)
}

function AcceptForm({ email, name, role, password }: Invitation) {
  const action = useAction()
  const [isSignedOut, setSignedOut] = useState(false)
  const isOther = action.refusal?.code === 'sign_in_refused'
  function goOn() {
    action.forget()
    setSignedOut(true)
  }
  return (
    <>
      <p>
        {content.settings?.firm.name ?? 'The firm'} has invited <strong>{name}</strong> ({email}) to its client records,
        as a {role}.
      </p>
      {password && <p>Choose a password to sign in with the next time.</p>}
      {password ? (
        <NewPasswordForm
          action={action}
          email={email}
          minimum={password.minimum_length}
          submit="Accept and sign in"
          onChosen={accept}
          after={!password.only_way && <WithoutPassword action={action} />}
        />
      ) : (
        <>
          <p class="about">{afterwards}</p>
          <Form action={action} submit="Accept and sign in" onSubmit={() => accept()} />
        </>
      )}
      {isOther && <SignOutHere onDone={goOn} />}
      {isSignedOut && !action.refusal && <output>You are signed out. Accept the invitation now.</output>}
    </>
  )
}

const afterwards = 'This signs you in. You can then choose, on the page of your account, how to sign in next time.'

function WithoutPassword({ action }: { readonly action: Action }) {
  return (
    <Button action={action} onClick={() => accept()}>
      Accept without a password
    </Button>
  )
}

/** Someone else is signed in in this browser. The page keeps the invitation. */
function SignOutHere({ onDone }: { readonly onDone: () => void }) {
  const action = useAction()
  async function signOut(): Promise<void> {
    await post('/signout', {})
    onDone()
  }
  return (
    <>
      <Button action={action} onClick={signOut}>
        Sign out here
      </Button>
      <Alert refusal={action.refusal} />
    </>
  )
}
