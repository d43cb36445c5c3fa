/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { useAction, useStart } from './action.ts'
import { leaveFor, post } from './api.ts'
import { Alert, Form } from './form.tsx'
import { Ending, Panel } from './panel.tsx'
import { token } from './token.ts'

interface Link {
  readonly own_browser: boolean
  readonly address: string
  readonly device: string
}

/** Where the link in a sign-in mail leads. Opening it uses nothing up, because mail scanners open links: the button does. */
export function LinkPage() {
  return token === '' ? <NoToken /> : <OpenedLink />
}

function OpenedLink() {
  const [link, setLink] = useState<Link>()
  const opening = useStart(async () => setLink(await post<Link>('/auth/link/inspect', { token })))
  const action = useAction()

  async function signIn(): Promise<void> {
    const confirmed = link?.own_browser === false
    const { location: next } = await post<{ location: string }>('/auth/link', {
      token,
      ...(confirmed && { confirmed }),
    })
    await leaveFor(next)
  }

  if (link === undefined) {
    return (
      <Panel title="Sign in">
        <Alert refusal={opening.refusal} />
        {opening.refusal ? (
          <a class="button" href="/signin">
            Go to the sign-in page
          </a>
        ) : (
          <output>Checking the link…</output>
        )}
      </Panel>
    )
  }
  return (
    <Panel title={link.own_browser ? 'Sign in' : 'Sign in with this browser?'} key={String(link.own_browser)}>
      {link.own_browser ? (
        <p>
          You sign in as <strong>{link.address}</strong>.
        </p>
      ) : (
        <OtherBrowser {...link} />
      )}
      <Form action={action} submit={link.own_browser ? 'Sign in' : 'Yes, sign in here'} onSubmit={signIn} />
    </Panel>
  )
}

function OtherBrowser({ address, device }: Pick<Link, 'address' | 'device'>) {
  return (
    <>
      <p>
        Someone asked for this link in another browser: <strong>{device}</strong>. It signs in as{' '}
        <strong>{address}</strong>.
      </p>
      <p>
        If it was you, you can enter the code from the mail there, or sign in here instead. If it was not you, close
        this page.
      </p>
    </>
  )
}

/** The page was opened without its link, or loaded again. */
export function NoToken() {
  return (
    <Ending
      title="Open the link again"
      text="This page needs the link from your mail. Open it there once more, or ask for a new one."
      to="/signin"
      action="Go to the sign-in page"
    />
  )
}
