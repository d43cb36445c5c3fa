import { Button } from '@mantine/core'
import { useRouteError } from 'react-router'
import { ApiError } from '../../api.ts'
import { useTitle } from '../../components/page.tsx'
import { Wordmark } from '../../components/wordmark.tsx'
import { content } from '../../content.ts'
import classes from './refusal.module.css'

interface Words {
  readonly title: string
  readonly advice: string
  /** Whether the same request may work later. */
  readonly again?: boolean
}

const words: Readonly<Record<number, Words>> = {
  0: { title: 'No connection', advice: 'Tollgate cannot be reached. Check the network, then try again.', again: true },
  400: { title: 'Invalid request', advice: 'Go back and start again.' },
  403: {
    title: 'No access',
    advice: 'You do not have access to this page, or it does not exist. If you need access, ask a partner of the firm.',
  },
  404: { title: 'Page not found', advice: 'The address is wrong, or the page no longer exists.' },
  405: { title: 'Page not found', advice: 'This address is not a page.' },
  429: { title: 'Too many requests', advice: 'Wait a moment, then try again.', again: true },
  500: {
    title: 'Something went wrong',
    advice: 'This is an error in Tollgate. Try again. If it happens again, report it with the request id below.',
    again: true,
  },
  503: {
    title: 'Temporarily unavailable',
    advice: 'Wait a moment, then try again.',
    again: true,
  },
}
const unknown: Words = { title: 'Something went wrong', advice: 'Reload the page.', again: true }
const notSignedIn: Words = { title: 'You are not signed in', advice: 'Start the sign-in again.' }

/** Shown in place of a page that cannot be shown. */
export function RefusalPage() {
  const error = useRouteError()
  const refused = error instanceof ApiError ? error : undefined
  const isSignIn = ['sign_in_failed', 'sign_in_refused', 'provider_failed'].includes(refused?.refusal.code ?? '')
  const { title, advice, again = false } = isSignIn ? notSignedIn : ((refused && words[refused.status]) ?? unknown)
  useTitle(title)
  const Place = content.viewer ? 'div' : 'main'
  return (
    <Place>
      <div className={classes.refusal} role="alert">
        {!content.viewer && <Wordmark />}
        <p className={classes.status}>{refused && refused.status > 0 ? `Error ${refused.status}` : ''}</p>
        <h1>{title}</h1>
        <p>{reasonBeyond(refused) ?? advice}</p>
        <div className={classes.ways}>
          {again && <Button onClick={() => location.reload()}>Try again</Button>}
          <WayOut isSignIn={isSignIn} isSecond={again} />
        </div>
        {refused?.refusal.request_id !== undefined && (
          <p className={classes.id}>
            Request <code>{refused.refusal.request_id}</code>
          </p>
        )}
      </div>
    </Place>
  )
}

function WayOut({ isSignIn, isSecond }: { readonly isSignIn: boolean; readonly isSecond: boolean }) {
  const [href, text] = isSignIn
    ? ['/signin', 'Sign in again']
    : [
        '/',
        content.viewer && content.viewer.person.role !== 'developer' ? 'Go to the overview' : 'Go to the start page',
      ]
  return (
    <Button component="a" href={href} variant={isSecond ? 'default' : 'filled'}>
      {text}
    </Button>
  )
}

/** The server's reason, if it is more specific than the advice for the status. */
function reasonBeyond(refused: ApiError | undefined): string | undefined {
  const general = [undefined, 'not_found', 'internal', 'method_not_allowed']
  return general.includes(refused?.refusal.code) || refused?.status === 0 ? undefined : refused?.message
}
