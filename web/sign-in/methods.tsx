/** @jsxImportSource preact */
import { useState } from 'preact/hooks'
import { content } from '../content.ts'
import { EmailForm } from './email-form.tsx'
import { forgetMailed, keepMailed, keptMailed, type Mailed } from './mailed-code.ts'
import { MailedPage } from './mailed.tsx'
import { Panel } from './panel.tsx'
import { PasskeyButton } from './passkey-button.tsx'
import { SignedIn } from './signed-in.tsx'
import { isAgain, page } from './wire.ts'

const has = (id: string) => page.credentials?.some((method) => method.id === id) ?? false

/** Whether the person has no need to sign in. */
const isSignedIn = content.viewer !== undefined && !isAgain

/** The ways to sign in. */
export function MethodsPage() {
  const [mailed, setMailed] = useState(() => (isSignedIn ? undefined : keptMailed()))
  const [byPasskey, setByPasskey] = useState(false)
  const hasForm = has('email_link') || has('password')
  function onMailed(next: Mailed) {
    keepMailed(next)
    setMailed(next)
  }
  function onBack() {
    forgetMailed()
    setMailed(undefined)
  }
  if (mailed) return <MailedPage {...mailed} onBack={onBack} />
  return (
    <Panel title={isAgain ? 'Confirm your identity' : 'Sign in'}>
      {isAgain && <p>This page changes how you sign in. Sign in again first, so that nobody else can change it.</p>}
      {isSignedIn && <SignedIn />}
      <Providers />
      {has('passkey') && <PasskeyButton onActive={setByPasskey} />}
      {hasForm && page.providers.length + Number(has('passkey')) > 0 && <p class="or">or</p>}
      {hasForm && (
        <EmailForm
          hasLink={has('email_link')}
          hasPassword={has('password')}
          offersPasskeys={has('passkey') && !byPasskey}
          onMailed={onMailed}
        />
      )}
      {page.providers.length === 0 && page.credentials === undefined && (
        <p>No sign-in method is configured. Ask the operator of Tollgate to add one.</p>
      )}
      {page.providers.length > 0 && (
        <p class="about">With a provider’s account, Tollgate receives your email address, never your password.</p>
      )}
    </Panel>
  )
}

function Providers() {
  const query = new URLSearchParams({
    ...(page.return_to !== undefined && page.return_to !== '/' && { return_to: page.return_to }),
    ...(isAgain && { again: '1' }),
  }).toString()
  return (
    <div class="choices">
      {page.providers.map(({ id, name }, index) => (
        <a
          key={id}
          class={index === 0 ? 'button primary' : 'button'}
          href={`/auth/start/${id}${query === '' ? '' : `?${query}`}`}
        >
          {`Continue with ${name}`}
        </a>
      ))}
    </div>
  )
}
