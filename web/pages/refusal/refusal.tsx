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
  /** Whether the same may work later. */
  readonly again?: boolean
}

const words: Readonly<Record<number, Words>> = {
  0: { title: 'No connection', advice: 'Tollgate cannot be reached. Check the network, then try again.', again: true },
  400: { title: 'That did not work', advice: 'Go back and start again.' },
  403: {
    title: 'You may not see this',
    advice: 'Either it is not yours to see, or it does not exist. If you need it, ask a partner of the firm.',
  },
  404: { title: 'Nothing is here', advice: 'The address is wrong, or what was here is gone.' },
  405: { title: 'Nothing is here', advice: 'This address is not a page.' },
  429: { title: 'Too much at once', advice: 'Wait a moment, then try again.', again: true },
  500: {
    title: 'Something went wrong',
    advice: 'The fault is ours. Try again, and report it if it stays.',
    again: true,
  },
  503: {
    title: 'Not available for the moment',
    advice: 'Wait a moment, then try again. Nothing is lost.',
    again: true,
  },
}
const unknown: Words = { title: 'Something went wrong', advice: 'Load the page again.', again: true }
const notSignedIn: Words = { title: 'You are not signed in', advice: 'Start the sign-in again.' }

/** What is said instead of a page, with the way out. */
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
    : content.viewer
      ? ['/clients', 'Go to your clients']
      : ['/', 'Go to the start']
  return (
    <Button component="a" href={href} variant={isSecond ? 'default' : 'filled'}>
      {text}
    </Button>
  )
}

/** What the server says is better than what can be said here, where it knows more than the status. */
function reasonBeyond(refused: ApiError | undefined): string | undefined {
  const general = [undefined, 'not_found', 'internal', 'method_not_allowed']
  return general.includes(refused?.refusal.code) || refused?.status === 0 ? undefined : refused?.message
}
